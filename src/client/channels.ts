// Several streams in one connection: the first byte of each message says which one it belongs to.

import { identityNames, identityOf } from '../api/identity.js'

/** In either vocabulary. */
export const channelProtocols: readonly string[] = identityNames.map((name) => `v4.channel.${identityOf(name).groupSuffix}`)

export function channelMessage(channel: number, data: Uint8Array): Uint8Array {
  const message = new Uint8Array(data.length + 1)
  message[0] = channel
  message.set(data, 1)
  return message
}

export const bytesOf = (data: Uint8Array | string): Uint8Array => (typeof data === 'string' ? new TextEncoder().encode(data) : data)
