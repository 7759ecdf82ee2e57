// Several streams in one connection: the first byte of each message says which one it belongs to.

import { identityNames, identityOf } from '../api/identity.js'

/** In either vocabulary. */
const protocolsOf = (version: string): readonly string[] =>
  identityNames.map((name) => `${version}.channel.${identityOf(name).groupSuffix}`)

export const channelProtocols: readonly string[] = protocolsOf('v4')
/** Of commands. With the newer version the end of the input can be told; who does not know it takes the other. */
export const commandProtocols: readonly string[] = [...protocolsOf('v5'), ...channelProtocols]

export function channelMessage(channel: number, data: Uint8Array): Uint8Array {
  const message = new Uint8Array(data.length + 1)
  message[0] = channel
  message.set(data, 1)
  return message
}

export const bytesOf = (data: Uint8Array | string): Uint8Array => (typeof data === 'string' ? new TextEncoder().encode(data) : data)
