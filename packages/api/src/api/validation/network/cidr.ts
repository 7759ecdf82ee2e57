// CIDR ranges such as `10.0.0.0/8`: parser, which allows leading zeros, size and containment.

import { parseIp } from './ip.js'
import { type IpFamily, ipNumber } from './ip-text.js'

export interface Cidr {
  readonly family: IpFamily
  /** All bits beyond the mask are zero. */
  readonly first: bigint
  readonly bits: number
}

const widths = { IPv4: 32, IPv6: 128 } as const

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  const mask = text.slice(slash + 1)
  const ip = slash < 0 || !/^\d{1,4}$/.test(mask) ? undefined : parseIp(text.slice(0, slash))
  if (ip === undefined) return undefined
  const family = text.includes(':') ? 'IPv6' : 'IPv4'
  const bits = Number(mask)
  if (bits > widths[family]) return undefined
  const number = family === 'IPv4' ? ipNumber(ip) : ip.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  const hostBits = BigInt(widths[family] - bits)
  return { family, first: (number >> hostBits) << hostBits, bits }
}

export const sizeOfCidr = ({ family, bits }: Cidr): bigint => 1n << BigInt(widths[family] - bits)

export const containsAddress = (range: Cidr, family: IpFamily, address: bigint): boolean =>
  family === range.family && address >= range.first && address < range.first + sizeOfCidr(range)

export const isStrictSubnet = (part: Cidr, whole: Cidr): boolean =>
  part.bits > whole.bits && containsAddress(whole, part.family, part.first)
