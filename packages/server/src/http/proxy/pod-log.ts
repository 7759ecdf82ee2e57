// GET of pods/log: the kubelet's log stream, as plain text or as WebSocket messages.

import type { Writable } from 'node:stream'
import { webSocketHandshake } from '../../net/listen/websocket.js'
import type { ResponseHead } from '../../net/proxy/reverse-proxy.js'
import { UpstreamError, UpstreamRefusal } from '../../net/proxy/upstream-error.js'
import type { Location } from '../../verbs/virtual/virtual-resource-types.js'
import { commonHeaders, sendPlain, writeHead } from '../responses/send-response.js'
import type { Target } from '../rest/target.js'
import { errorWithoutReason, withQuery } from './backend-url.js'
import { type Backends, backendOf } from './backends.js'
import { type Destination, forwardRequest } from './forward-request.js'
import { kubeletError } from './kubelet-error.js'
import { beginLog, logProtocolOf } from './websocket-pod-log.js'

const isSuccess = ({ code }: ResponseHead): boolean => code >= 200 && code <= 206

export async function servePodLog({ exchange, call }: Target, backends: Backends, location: Location): Promise<void> {
  const handshake = webSocketHandshake(exchange.request, exchange.response)
  const protocol = handshake && logProtocolOf(handshake)
  const { upstream, url } = backendOf(backends, location)
  const path = withQuery(location.path, location.query ?? '')
  const isVerified = location.trust === 'kubelet'
  let messages: Writable | undefined
  backends.logCounters?.count(isVerified)
  const destination: Destination = {
    upstream,
    url,
    path,
    isPlainGet: true,
    changeHeaders: (headers) => {
      headers.length = 0
      headers.push('Host', url.host, 'User-Agent', 'cluster-apiserver')
    },
    isRefusal: (head) => !isSuccess(head),
    begin: () => {
      if (handshake === undefined) writeHead(exchange, 200, [...commonHeaders(exchange), 'Content-Type', 'text/plain'])
      else if (protocol === undefined || handshake.refusal !== undefined) throw new HandshakeRefusedError()
      else messages = beginLog(exchange, protocol)
    },
    into: () => messages,
  }
  try {
    await forwardRequest(exchange, destination)
  } catch (thrown) {
    if (thrown instanceof HandshakeRefusedError) {
      const { code, text, headers } = handshake?.refusal ?? { code: 403, text: 'requested protocol(s) are not supported' }
      sendPlain(exchange, code, text, headers)
      return
    }
    if (thrown instanceof UpstreamRefusal && !(thrown.code >= 300 && thrown.code < 400))
      throw kubeletError(thrown, { resource: `${call.resource.name}/log`, name: call.name })
    const isTls = thrown instanceof UpstreamError && thrown.isTls
    if (isTls && isVerified) backends.logCounters?.countTlsFailure()
    const problem = thrown instanceof UpstreamRefusal ? 'redirects forbidden' : thrown instanceof UpstreamError ? thrown.message : undefined
    if (problem === undefined) throw thrown
    throw errorWithoutReason(`Get "${url.origin}${path}": ${problem}`, thrown)
  }
}

/** The client's WebSocket handshake is invalid, or offers no known subprotocol. */
class HandshakeRefusedError extends Error {}
