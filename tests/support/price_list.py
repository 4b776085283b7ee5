"""AWS's public price list on this machine: offer files in the form that AWS's have, served over HTTP."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

OFFERS = "/offers/v1.0/aws/AmazonSageMaker"
INDEX = f"{OFFERS}/current/region_index.json"


def offer_file(region: str, prices: Mapping[str, str]) -> dict[str, Any]:
    """The offer file of a region, with instances for hosting by name."""
    products, terms = {}, {}
    for at, (name, price) in enumerate(prices.items()):
        sku, term = f"SKU{at}", f"SKU{at}.JRTCKXETXF"
        attributes = {
            "servicecode": "AmazonSageMaker",
            "locationType": "AWS Region",
            "instanceName": name,
            "instanceType": f"{name}-Hosting",
            "component": "Hosting",
            "usagetype": f"Host:{name}",
            "operation": "RunInstance",
            "regionCode": region,
            "vCpu": "4",
        }
        products[sku] = {"sku": sku, "productFamily": "ML Instance", "attributes": attributes}
        rate = {"rateCode": f"{term}.6YS6EN2CT7", "beginRange": "0", "endRange": "Inf", "unit": "Hrs"}
        rate |= {"pricePerUnit": {"USD": price}, "appliesTo": []}
        terms[sku] = {term: {"sku": sku, "priceDimensions": {f"{term}.6YS6EN2CT7": rate}}}
    return {"formatVersion": "v1.0", "products": products, "terms": {"OnDemand": terms}}


def region_index(**urls: str) -> bytes:
    """The index of regions, with the URL of each region's offer file; `_` in a name stands for `-`."""
    named = {name.replace("_", "-"): url for name, url in urls.items()}
    regions = {name: {"regionCode": name, "currentVersionUrl": url} for name, url in named.items()}
    return json.dumps({"formatVersion": "v1.0", "regions": regions}).encode()


@contextmanager
def serving(files: Mapping[str, bytes | int]) -> Iterator[str]:
    """Serves files by their paths; an integer is the status of a refusal. Gives the server's URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = files.get(self.path, 404)
            status, content = (found, b"") if isinstance(found, int) else (200, found)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
