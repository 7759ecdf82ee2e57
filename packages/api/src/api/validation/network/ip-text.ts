// IP addresses as numbers and in canonical text (RFC 5952), to iterate over ranges and to compare addresses.

import { type IpBytes, isIpv4, parseIp } from './ip.js'

export type IpFamily = 'IPv4' | 'IPv6'

export const ipNumber = (ip: IpBytes): bigint =>
  (isIpv4(ip) ? ip.slice(12) : ip).reduce((number, byte) => (number << 8n) | BigInt(byte), 0n)

export function printIp(number: bigint, family: IpFamily): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((number >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  const { start, length } = longestZeros(groups)
  return length < 2 ? groups.join(':') : `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`
}

interface Run {
  readonly start: number
  readonly length: number
}

/** The longest run of zero groups, which `::` replaces. */
function longestZeros(groups: readonly string[]): Run {
  let longest: Run = { start: 0, length: 0 }
  for (let start = 0; start < groups.length; start++) {
    let length = 0
    while (groups[start + length] === '0') length++
    if (length > longest.length) longest = { start, length }
  }
  return longest
}

export function familyOf(text: string): IpFamily | undefined {
  const ip = parseIp(text)
  if (ip === undefined) return undefined
  return isIpv4(ip) ? 'IPv4' : 'IPv6'
}

export function canonicalIp(text: string): string {
  const ip = parseIp(text)
  return ip === undefined ? text : printIp(ipNumber(ip), isIpv4(ip) ? 'IPv4' : 'IPv6')
}
