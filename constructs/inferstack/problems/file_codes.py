"""Codes of what is wrong with files, with several specs together, and with a spec in the stack of an app."""

from inferstack.problems import MANY as _MANY, MOST_FOUND, MOST_SHOWN
from inferstack.problems.codes import CodeTable

_YAML = "https://yaml.org/spec/1.2.2/"
_MERGE = "https://yaml.org/type/merge.html"
_CREATE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html"

FILE_CODES = CodeTable()
"""What is reported before a spec is compared with the schema and the rules, or beside them."""
_error, _warning = FILE_CODES.error, FILE_CODES.warning

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
TOO_MANY_PROBLEMS = _error(
    _MANY,
    f"There are more than {MOST_SHOWN} problems in one file, or with the models of one spec. The first are "
    "reported, errors before warnings; the others are counted by their codes. This is an error if one of "
    f"them is. After {MOST_FOUND:,} wrong keys and values no more are looked for.",
)
STAGES_FORM = _error("IS030", "`stages` is not a mapping from stage names to mappings.")
UNKNOWN_STAGE = _error("IS031", "The stage that was chosen is not listed under `stages`.")
STAGE_NAME = _error("IS032", "A stage name has characters other than letters, digits and hyphens.")
STAGE_KEY = _error(
    "IS033", "A stage, or an override from Python, sets a key that must be the same in all stages."
)
STAGE_NEEDED = _error("IS034", "The spec uses `${stage}` but no stage was chosen.")
TOO_MANY_STAGES = _error("IS035", "The file lists more than 50 stages.")
STAGES_IDLE = _error(
    "IS036", "A spec made of the classes has `stages` and goes to a construct, which chooses none of them."
)
FOREIGN = _error(
    "IS037",
    "The file is a link out of the project, to something other than a spec. Its content is not shown.",
)
NAMED_OTHERWISE = _error("IS049", "The project's file has a name that is not read.")
NO_SPEC = _error("IS056", "The file is a lock or the file of a project, not a spec.")

# ---------------------------------------------------------------- several specs

UNREADABLE_PRICES = _error("IS070", "The price file cannot be read, or does not have the right form.")
UNREADABLE_MEASUREMENTS = _error(
    "IS071", "The file of measurements cannot be read, or some of it cannot be used."
)
NOT_EDITABLE = _error(
    "IS077",
    "A value of the spec cannot be changed by a command without changing more than it should, such as text "
    "that an alias repeats.",
)
UNREADABLE_MODEL = _error("IS355", "A file that describes a model cannot be read, or has another form.")
UNREADABLE_TRAFFIC = _error("IS072", "The traffic file cannot be read, or some of it cannot be used.")
OTHER_TRAFFIC = _error("IS073", "The traffic file and the specs do not name the same models.")
NOT_ENOUGH_FOR_A_JOB = _error(
    "IS080",
    "`inferstack recommend` cannot request a job: the spec does not say enough. It can be deployed as it is.",
)
UNUSABLE_RESULT = _error("IS081", "The result of a job has nothing that can be used.")
NO_SPECS = _error("IS040", "The folder holds no spec file, or cannot be read.")
SAME_ENDPOINT = _error(
    "IS041",
    "Two specs, or two stages of one, deploy endpoints of the same name into the same account and region. "
    "Names are compared "
    "without regard to case, as SageMaker does.",
    _CREATE,
)
SAME_COMPONENT = _error(
    "IS042",
    "Two specs, or two stages of one, deploy inference components of the same name into the same account "
    "and region. Such a name must be unique there, even across endpoints.",
)
SAME_DASHBOARD = _error(
    "IS043",
    "Two specs, or two stages of one, write a dashboard of the same name in one account: the later one "
    "would replace the other. Dashboards are shared by all regions.",
)
SAME_STACK = _error(
    "IS044",
    "Two specs make stacks of the same name. A stack is named after its endpoint, with "
    "`endpoint-` before a digit, since CloudFormation requires a letter.",
)
SAME_ALARM = _error(
    "IS064",
    "Two specs make alarms of the same name in the same account and region: the later one would not be made.",
    "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html",
)
SAME_BUCKET = _error(
    "IS074",
    "Two specs make buckets of the same name. A bucket's name must be unique in all accounts and regions.",
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html",
)
SAME_TOPIC = _error(
    "IS084",
    "Two specs make SNS topics of the same name in the same account and region: both would be one topic.",
    "https://docs.aws.amazon.com/sns/latest/api/API_CreateTopic.html",
)
SAME_EXPORT = _error(
    "IS094",
    "Two specs, or two stages of one, export under the same name in the same account and region: the second "
    "stack would not be made.",
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html",
)
SAME_ROLE = _error(
    "IS095",
    "Two specs, or two stages of one, make roles of the same name in one account: the second stack would not "
    "be made. IAM has no regions, and names differ in more than case.",
    "https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html",
)
SAME_POLICY = _error(
    "IS096",
    "Two specs, or two stages of one, make managed policies of the same name in one account: the second "
    "stack would not be made.",
    "https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreatePolicy.html",
)
SAME_SCALING = _error(
    "IS045",
    "Two constructs of an app scale the same variant or inference component, which can have only one "
    "scalable target.",
    "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html",
)

MAYBE_SAME_NAME = _warning(
    "IS061",
    "Two specs, or two stages of one, take the same name and may be deployed into the same account and "
    "region, which at least one of them does not name.",
    _CREATE,
)

# ---------------------------------------------------------------- a spec in a stack, and what it ignores

OTHER_PLACE = _error(
    "IS111", "The spec names a different account or region than the stack that it is used in."
)
NO_URL = _error(
    "IS116",
    "A whole S3 URL is the name, or another attribute, of a bucket of the app.",
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html",
)
NO_RIGHT = _warning(
    "IS117",
    "An app grants the right to invoke to a role of another account, to which CDK attaches nothing.",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/tutorial_cross-account-with-roles.html",
)
ONE_ZONE = _warning(
    "IS278",
    "All subnets that an app takes from its network are in one Availability Zone.",
    "https://docs.aws.amazon.com/sagemaker/latest/dg/host-vpc.html",
)
NOT_ALONE = _error(
    "IS192",
    "The spec has `exports`, but its endpoint is in a stack of the app, which has outputs of its own.",
)
OTHER_ROLE = _error("IS114", "The spec has an `execution_role`, but the construct is also given a role.")
NO_SUCH_WARNING = _error("IS290", "`ignore` must name the code of an existing warning.")
NOT_IGNORABLE = _error("IS291", "Only warnings can be ignored.")

# ---------------------------------------------------------------- what specs are compared with

COMPARISON_CODES = CodeTable()
"""What is reported about templates and bases. No spec could ignore it, so it has a table of its own."""
_OWN = "inferstack's comparison of templates"
_TEMPLATES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-anatomy.html"

BAD_TEMPLATE = COMPARISON_CODES.error("IS850", "The template to compare with cannot be read.", _OWN)
NOT_A_TEMPLATE = COMPARISON_CODES.error(
    "IS851", "The file to compare with is not a CloudFormation template.", _TEMPLATES
)
UNCLEAR = COMPARISON_CODES.error(
    "IS852", "It is not clear which template belongs to which stage of the spec.", _OWN
)
OTHER_STACK = COMPARISON_CODES.error(
    "IS853", "The template to compare with is of a different kind of stack.", _OWN
)
LEFT_OVER = COMPARISON_CODES.warning(
    "IS854", "No spec of the folder makes a template's stack any more.", _OWN
)
UNRESOLVED = COMPARISON_CODES.error(
    "IS859",
    "A template refers to a resource or a parameter that it lacks, which CloudFormation refuses.",
    "https://repost.aws/knowledge-center/cloudformation-template-validation",
)
NO_BASE = COMPARISON_CODES.error(
    "IS895",
    "The base to compare with is neither a path nor a revision of git, may be either, or cannot be read.",
)
