"""Which models come from AWS Marketplace, judging by the ARNs of their packages."""

from collections.abc import Iterator

from inferstack.catalog import marketplace
from inferstack.once import found_once
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.walk import model_containers
from inferstack.spec.problem import SpecPath
from inferstack.spec.texts.placeholders import arn_fields


@found_once
def marketplace_packages(spec: ModelSpec) -> Iterator[tuple[SpecPath, str | None]]:
    """The path of each container from AWS Marketplace, and the name of its model under `models`."""
    for path, name, container in model_containers(spec):
        if container.model_package_name is not None and _is_sold(container.model_package_name, spec.account):
            yield path, name


def _is_sold(package: str, own_account: str | None) -> bool:
    """Whether a package is in Marketplace's account, or looks like one of its packages if that is not known.

    Marketplace's packages belong to no group and so have no version; packages that accounts share with each
    other mostly have one.
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateModelPackage.html
    """
    match arn_fields(package):
        case ["arn", _, "sagemaker", region, account, name]:
            is_of_another = own_account is not None and account.isdigit() and account != own_account
            has_the_form = name.count("/") == 1 and is_of_another
            where_unknown = region not in marketplace.ACCOUNTS
            return account in marketplace.ACCOUNTS.values() or (where_unknown and has_the_form)
        case _:
            return False
