// The types of requests and responses of both protocols, HTTP/1.1 and HTTP/2.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'

export type HttpRequest = IncomingMessage | Http2ServerRequest
export type HttpResponse = ServerResponse | Http2ServerResponse
export type RequestListener = (request: HttpRequest, response: HttpResponse) => void
