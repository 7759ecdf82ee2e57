// WebSocket subprotocols of exec, attach and port-forward: the first byte of each message is the number of its channel.

import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'

const protocolsOf = (version: string): readonly string[] =>
  identityNames.map((name) => `${version}.channel.${identityOf(name).groupSuffix}`)

export const channelProtocols: readonly string[] = protocolsOf('v4')
/** Subprotocols of exec and attach. v5 can close stdin; servers without it select v4. */
export const commandProtocols: readonly string[] = [...protocolsOf('v5'), ...channelProtocols]

export function channelMessage(channel: number, data: Uint8Array): Uint8Array {
  const message = new Uint8Array(data.length + 1)
  message[0] = channel
  message.set(data, 1)
  return message
}

export const bytesOf = (data: Uint8Array | string): Uint8Array => (typeof data === 'string' ? new TextEncoder().encode(data) : data)
