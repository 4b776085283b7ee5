"""Codes of everything that can be wrong with a file, its YAML, and its stages."""

from inferstack.problems.codes import CodeTable

_YAML = "https://yaml.org/spec/1.2.2/"
_MERGE = "https://yaml.org/type/merge.html"

FILE_CODES = CodeTable()
"""Everything that can be reported while reading a file and choosing a stage."""
_error = FILE_CODES.error

NO_FILE = _error("IS001", "There is no such file.")
DIRECTORY = _error("IS002", "The path names a directory.")
NOT_REGULAR = _error("IS003", "The path names a pipe, a device or a socket.")
UNREADABLE = _error("IS004", "The file cannot be read: the operating system refuses it.")
TOO_LARGE = _error("IS005", "The file is larger than 1 MiB.")
NOT_UTF8 = _error("IS006", "The file is not UTF-8.", _YAML)
UNPRINTABLE = _error(
    "IS007", "The file has a control character that YAML forbids, or two byte order marks.", _YAML
)
EMPTY = _error("IS008", "The file is empty or holds nothing but comments.")
SYNTAX = _error("IS009", "The file is not YAML 1.2.", _YAML)
SEVERAL_DOCUMENTS = _error(
    "IS010", "The file has several YAML documents, but a spec must be a single one.", _YAML
)
NOT_A_MAPPING = _error("IS011", "The top of the file is not a mapping.")
DUPLICATE_KEY = _error("IS012", "A mapping holds the same key twice.", _YAML)
KEY_NOT_TEXT = _error("IS013", "A key is not text.")
TAG = _error("IS014", "A value has a YAML tag other than those of plain data.", _YAML)
UNFIT_SCALAR = _error("IS015", "A number is too large, or a value does not fit its tag.", _YAML)
TOO_DEEP = _error("IS016", "Mappings and lists are nested too deeply.")
TOO_MANY_VALUES = _error("IS017", "The file has too many values, including those that aliases repeat.")
UNKNOWN_ALIAS = _error("IS018", "An alias refers to an anchor that is not defined above it.", _YAML)
RECURSIVE_ALIAS = _error("IS019", "An alias is used inside the value that it refers to.")
MERGE = _error("IS020", "The value of `<<` is neither a mapping nor a list of mappings.", _MERGE)
NOT_PLAIN = _error("IS021", "Data passed from Python contains something that YAML cannot express.")
STAGES_FORM = _error("IS030", "`stages` is not a mapping from stage names to mappings.")
UNKNOWN_STAGE = _error("IS031", "The stage that was chosen is not listed under `stages`.")
STAGE_NAME = _error("IS032", "A stage name has characters other than letters, digits and hyphens.")
STAGE_KEY = _error(
    "IS033", "A stage, or an override from Python, sets a key that must be the same in all stages."
)
STAGE_NEEDED = _error("IS034", "The spec uses `${stage}` but no stage was chosen.")
TOO_MANY_STAGES = _error("IS035", "The file lists more than 50 stages.")
NO_SPEC = _error("IS056", "The file is a lock, not a spec.")
