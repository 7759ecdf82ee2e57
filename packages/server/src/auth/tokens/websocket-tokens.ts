// Bearer tokens in Sec-WebSocket-Protocol: scripts in browsers cannot set an Authorization header on a WebSocket.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { type Authenticator, type Refused, tokenCredentials } from '../authenticate.js'

interface SubprotocolToken {
  readonly token: string
  readonly hasOtherProtocols: boolean
}

export function webSocketTokens(identity: Pick<Identity, 'group'>, tokens: Authenticator): Authenticator {
  const prefix = `base64url.bearer.${identity.group({ stem: 'authorization' })}.`
  return async ({ rawHeaders }) => {
    const protocols = protocolsOf(rawHeaders)
    if (protocols === undefined) return undefined
    const found = readToken(protocols, prefix)
    if (found === undefined || 'problems' in found) return found
    if (found.token === '') return undefined
    // The server does not echo the token, so another subprotocol must remain to be negotiated.
    if (!found.hasOtherProtocols) return refused('missing additional subprotocol')
    return tokens(tokenCredentials(found.token))
  }
}

const refused = (problem: string): Refused => ({ problems: [problem] })

function protocolsOf(rawHeaders: readonly string[]): readonly string[] | undefined {
  let isUpgrade = false
  let isWebSocket = false
  let protocols: string[] | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    const value = rawHeaders[i + 1] as string
    if (name.length === 10 && name.toLowerCase() === 'connection') isUpgrade ||= value.toLowerCase().includes('upgrade')
    else if (name.length === 7 && name.toLowerCase() === 'upgrade') isWebSocket = value.toLowerCase() === 'websocket'
    else if (name.length === 22 && name.toLowerCase() === 'sec-websocket-protocol')
      protocols = [...(protocols ?? []), ...value.split(',').map((protocol) => protocol.trim())]
  }
  return isUpgrade && isWebSocket ? protocols : undefined
}

function readToken(protocols: readonly string[], prefix: string): SubprotocolToken | Refused | undefined {
  const tokens = protocols.filter((protocol) => protocol.startsWith(prefix))
  const [first] = tokens
  if (first === undefined) return undefined
  if (tokens.length > 1) return refused('multiple base64.bearer.authorization tokens specified')
  const encoded = first.slice(prefix.length)
  if (!/^[A-Za-z0-9_-]*$/.test(encoded) || encoded.length % 4 === 1) return refused('invalid base64.bearer.authorization token encoding')
  const bytes = Buffer.from(encoded, 'base64url')
  const token = bytes.toString('utf8')
  if (!Buffer.from(token).equals(bytes)) return refused('invalid base64.bearer.authorization token')
  return { token, hasOtherProtocols: protocols.length > 1 }
}
