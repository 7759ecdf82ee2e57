// Addresses of load balancers: the first free one of a range.

import { type Cidr, containsAddress, parseCidr, sizeOfCidr } from '@cluster-apiserver/api/api/validation/network/cidr.js'
import { parseIp } from '@cluster-apiserver/api/api/validation/network/ip.js'
import { ipNumber, printIp } from '@cluster-apiserver/api/api/validation/network/ip-text.js'

/** Range without its network and broadcast address, unless it is too small to have them. */
function usable(range: Cidr): { readonly first: bigint; readonly last: bigint } {
  const size = sizeOfCidr(range)
  const last = range.first + size - 1n
  return range.family === 'IPv4' && size > 2n ? { first: range.first + 1n, last: last - 1n } : { first: range.first, last }
}

/** `wanted` is used if it is in the range and free. Undefined if no address is free. */
export function nextAddress(rangeText: string, taken: ReadonlySet<string>, wanted = ''): string | undefined {
  const range = parseCidr(rangeText)
  if (range === undefined) return undefined
  if (wanted !== '') return isInRange(rangeText, wanted) && !taken.has(wanted) ? wanted : undefined
  const { first, last } = usable(range)
  // Of n taken addresses, one of the first n + 1 is free.
  for (let address = first; address <= last; address++) {
    const text = printIp(address, range.family)
    if (!taken.has(text)) return text
  }
  return undefined
}

export function isInRange(rangeText: string, text: string): boolean {
  const range = parseCidr(rangeText)
  const ip = parseIp(text)
  return range !== undefined && ip !== undefined && containsAddress(range, text.includes(':') ? 'IPv6' : 'IPv4', ipNumber(ip))
}
