// Where a request comes from: what proxies say they saw, and the peer itself, which nobody can make up.

import { isIP } from 'node:net'
import { RecentMap } from '../base/recent-map.js'

export interface Forwarding {
  readonly forwardedFor: string | undefined
  readonly realIp: string | undefined
  readonly peer: string
}

export function sourceIps({ forwardedFor, realIp, peer }: Forwarding): readonly string[] {
  if (forwardedFor === undefined && realIp === undefined) return alone(peer)
  const own = plainIp(peer)
  const ips = (forwardedFor ?? '').split(',').map(plainIp).filter(Boolean)
  const real = plainIp(realIp ?? '')
  if (real !== '' && !ips.includes(real)) ips.push(real)
  if (own !== '' && ips.at(-1) !== own) ips.push(own)
  return ips
}

/** Peers send one request after the other. */
const peers = new RecentMap<string, readonly string[]>(512)

function alone(peer: string): readonly string[] {
  const known = peers.get(peer)
  if (known !== undefined) return known
  const own = plainIp(peer)
  const ips = own === '' ? [] : [own]
  peers.set(peer, ips)
  return ips
}

/** An address of the fourth version within one of the sixth stands for itself; what is no address is empty. */
function plainIp(text: string): string {
  const trimmed = text.trim()
  const plain = trimmed.startsWith('::ffff:') && trimmed.includes('.') ? trimmed.slice(7) : trimmed
  return isIP(plain) === 0 ? '' : plain
}
