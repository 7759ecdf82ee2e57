// Tokens of scripts in browsers, which can set no header on a WebSocket: they come as the name of one of the protocols that are offered.

import type { Identity } from '../api/identity.js'
import { type Authenticator, type Refused, tokenCredentials } from './authenticate.js'

interface Offered {
  readonly token: string
  readonly hasOthers: boolean
}

/** `tokens`: who knows whose a token is. */
export function webSocketTokens(identity: Pick<Identity, 'group'>, tokens: Authenticator): Authenticator {
  const prefix = `base64url.bearer.${identity.group({ stem: 'authorization' })}.`
  return ({ rawHeaders }) => {
    const protocols = protocolsOf(rawHeaders)
    if (protocols === undefined) return undefined
    const offered = readToken(protocols, prefix)
    if (offered === undefined || 'problems' in offered) return offered
    if (offered.token === '') return undefined
    // The name with the token is not told anybody else, and one must be left to agree on.
    if (!offered.hasOthers) return refused('missing additional subprotocol')
    return tokens(tokenCredentials(offered.token))
  }
}

const refused = (problem: string): Refused => ({ problems: [problem] })

/** What a client that wants to speak WebSocket offers; undefined for all others. */
function protocolsOf(raw: readonly string[]): readonly string[] | undefined {
  let isUpgrade = false
  let isWebSocket = false
  let protocols: string[] | undefined
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    const value = raw[i + 1] as string
    if (name.length === 10 && name.toLowerCase() === 'connection') isUpgrade ||= value.toLowerCase().includes('upgrade')
    else if (name.length === 7 && name.toLowerCase() === 'upgrade') isWebSocket = value.toLowerCase() === 'websocket'
    else if (name.length === 22 && name.toLowerCase() === 'sec-websocket-protocol')
      protocols = [...(protocols ?? []), ...value.split(',').map((protocol) => protocol.trim())]
  }
  return isUpgrade && isWebSocket ? protocols : undefined
}

function readToken(protocols: readonly string[], prefix: string): Offered | Refused | undefined {
  const tokens = protocols.filter((protocol) => protocol.startsWith(prefix))
  const [first] = tokens
  if (first === undefined) return undefined
  if (tokens.length > 1) return refused('multiple base64.bearer.authorization tokens specified')
  const encoded = first.slice(prefix.length)
  if (!/^[A-Za-z0-9_-]*$/.test(encoded) || encoded.length % 4 === 1) return refused('invalid base64.bearer.authorization token encoding')
  const bytes = Buffer.from(encoded, 'base64url')
  const token = bytes.toString('utf8')
  if (!Buffer.from(token).equals(bytes)) return refused('invalid base64.bearer.authorization token')
  return { token, hasOthers: protocols.length > 1 }
}
