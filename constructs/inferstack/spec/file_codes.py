"""Codes of everything that can be wrong with a file, its YAML, and its stages.

Codes are a public contract: one is never given a new meaning, and a retired one is not used again.
"""

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

FILE_CODES = {
    NO_FILE: "There is no such file.",
    DIRECTORY: "The path names a directory.",
    NOT_REGULAR: "The path names a pipe, a device or a socket.",
    UNREADABLE: "The operating system does not let the file be read.",
    TOO_LARGE: "The file is larger than 1 MiB.",
    NOT_UTF8: "The file is not UTF-8.",
    UNPRINTABLE: "The file holds a control character that YAML forbids.",
    EMPTY: "The file is empty or holds nothing but comments.",
    SYNTAX: "The file is not YAML.",
    SEVERAL_DOCUMENTS: "The file holds several YAML documents; a spec is one.",
    NOT_A_MAPPING: "The top of the file is not a mapping.",
    DUPLICATE_KEY: "A mapping holds the same key twice.",
    KEY_NOT_TEXT: "A key is not text.",
    TAG: "A value carries a YAML tag that is not one of plain data.",
    UNFIT_SCALAR: "A number is too large, or a value does not fit its tag.",
    TOO_DEEP: "Mappings and lists are nested too deeply.",
    TOO_MANY_VALUES: "The file holds too many values, counted with those that aliases repeat.",
    UNKNOWN_ALIAS: "An alias refers to an anchor that does not stand above it.",
    RECURSIVE_ALIAS: "An alias stands inside the value that it refers to.",
    MERGE: "The value of `<<` is neither a mapping nor a list of mappings.",
    NOT_PLAIN: "Data made in Python holds something that YAML cannot.",
    STAGES_FORM: "`stages` is not a mapping from stage names to mappings.",
    UNKNOWN_STAGE: "The stage that was chosen is not listed under `stages`.",
    STAGE_NAME: "The name of a stage has other characters than letters, digits and hyphens.",
    STAGE_KEY: "A stage holds a key that must be the same in all stages.",
    STAGE_NEEDED: "The spec uses `${stage}` but no stage was chosen.",
    TOO_MANY_STAGES: "The file lists more than 50 stages.",
}
"""Code and meaning of everything that reading a file and choosing a stage report."""
