"""Codes of everything that can be wrong with a file, its YAML, and its stages."""

from inferstack.problems.codes import by_code, error

NO_FILE = "IS001"
DIRECTORY = "IS002"
NOT_REGULAR = "IS003"
UNREADABLE = "IS004"
TOO_LARGE = "IS005"
NOT_UTF8 = "IS006"
UNPRINTABLE = "IS007"
EMPTY = "IS008"
SYNTAX = "IS009"
SEVERAL_DOCUMENTS = "IS010"
NOT_A_MAPPING = "IS011"
DUPLICATE_KEY = "IS012"
KEY_NOT_TEXT = "IS013"
TAG = "IS014"
UNFIT_SCALAR = "IS015"
TOO_DEEP = "IS016"
TOO_MANY_VALUES = "IS017"
UNKNOWN_ALIAS = "IS018"
RECURSIVE_ALIAS = "IS019"
MERGE = "IS020"
NOT_PLAIN = "IS021"
STAGES_FORM = "IS030"
UNKNOWN_STAGE = "IS031"
STAGE_NAME = "IS032"
STAGE_KEY = "IS033"
STAGE_NEEDED = "IS034"
TOO_MANY_STAGES = "IS035"
NO_SPEC = "IS056"

_YAML = "https://yaml.org/spec/1.2.2/"
_MERGE = "https://yaml.org/type/merge.html"

FILE_CODES = by_code(
    error(NO_FILE, "There is no such file."),
    error(DIRECTORY, "The path names a directory."),
    error(NOT_REGULAR, "The path names a pipe, a device or a socket."),
    error(UNREADABLE, "The file cannot be read: the operating system refuses it."),
    error(TOO_LARGE, "The file is larger than 1 MiB."),
    error(NOT_UTF8, "The file is not UTF-8.", _YAML),
    error(UNPRINTABLE, "The file has a control character that YAML forbids, or two byte order marks.", _YAML),
    error(EMPTY, "The file is empty or holds nothing but comments."),
    error(SYNTAX, "The file is not YAML 1.2.", _YAML),
    error(SEVERAL_DOCUMENTS, "The file has several YAML documents, but a spec must be a single one.", _YAML),
    error(NOT_A_MAPPING, "The top of the file is not a mapping."),
    error(DUPLICATE_KEY, "A mapping holds the same key twice.", _YAML),
    error(KEY_NOT_TEXT, "A key is not text."),
    error(TAG, "A value has a YAML tag other than those of plain data.", _YAML),
    error(UNFIT_SCALAR, "A number is too large, or a value does not fit its tag.", _YAML),
    error(TOO_DEEP, "Mappings and lists are nested too deeply."),
    error(TOO_MANY_VALUES, "The file has too many values, including those that aliases repeat."),
    error(UNKNOWN_ALIAS, "An alias refers to an anchor that is not defined above it.", _YAML),
    error(RECURSIVE_ALIAS, "An alias is used inside the value that it refers to."),
    error(MERGE, "The value of `<<` is neither a mapping nor a list of mappings.", _MERGE),
    error(NOT_PLAIN, "Data passed from Python contains something that YAML cannot express."),
    error(STAGES_FORM, "`stages` is not a mapping from stage names to mappings."),
    error(UNKNOWN_STAGE, "The stage that was chosen is not listed under `stages`."),
    error(STAGE_NAME, "A stage name has characters other than letters, digits and hyphens."),
    error(STAGE_KEY, "A stage, or an override from Python, sets a key that must be the same in all stages."),
    error(STAGE_NEEDED, "The spec uses `${stage}` but no stage was chosen."),
    error(TOO_MANY_STAGES, "The file lists more than 50 stages."),
    error(NO_SPEC, "The file is a lock, not a spec."),
)
"""Everything that can be reported while reading a file and choosing a stage."""
