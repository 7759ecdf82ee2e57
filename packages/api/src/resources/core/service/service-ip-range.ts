// CIDR of cluster IPs. Dynamic allocation uses the upper band first; the lower band is for addresses that clients choose.

import { type Cidr, containsAddress, parseCidr, sizeOfCidr } from '../../../api/validation/network/cidr.js'
import { isIpv4, parseIp } from '../../../api/validation/network/ip.js'
import { type IpFamily, ipNumber, printIp } from '../../../api/validation/network/ip-text.js'

export interface AddressRange {
  readonly family: IpFamily
  readonly text: string
  readonly cidr: Cidr
  readonly size: number
  /** Size of the lower band, which dynamic allocation uses last. */
  readonly reserved: number
}

/** Number of addresses that are used of a larger IPv6 CIDR. */
const maxSize = 65536n
const lowerBand = { divisor: 16, min: 16, max: 256 }

export function addressRangeOf(text: string): AddressRange {
  const cidr = parseCidr(text)
  if (cidr === undefined) throw new Error(`${JSON.stringify(text)} is not a CIDR such as 10.96.0.0/16`)
  const addressCount = sizeOfCidr(cidr)
  const size = cidr.family === 'IPv6' ? (addressCount > maxSize ? maxSize : addressCount) - 1n : addressCount - 2n
  return {
    family: cidr.family,
    text: `${printIp(cidr.first, cidr.family)}/${cidr.bits}`,
    cidr,
    size: Number(size < 0n ? 0n : size),
    reserved: reservedOf(addressCount),
  }
}

/** A sixteenth of the range, between 16 and 256; ranges of at most 16 addresses have no lower band. */
function reservedOf(addressCount: bigint): number {
  if (addressCount <= BigInt(lowerBand.min)) return 0
  const share = addressCount / BigInt(lowerBand.divisor)
  return Number(share < BigInt(lowerBand.min) ? lowerBand.min : share > BigInt(lowerBand.max) ? lowerBand.max : share)
}

/** `index` 0 is the address after the network address; it belongs to the Service of the API server. */
export const addressAt = ({ cidr, family }: AddressRange, index: number): string => printIp(cidr.first + 1n + BigInt(index), family)

export const firstAddress = (range: AddressRange): string => addressAt(range, 0)

export const networkAddress = (range: AddressRange): string => addressAt(range, -1)

export function isInRange(range: AddressRange, address: string): boolean {
  const ip = parseIp(address)
  if (ip === undefined) return false
  const number = ipNumber(ip)
  const index = number - range.cidr.first - 1n
  return containsAddress(range.cidr, isIpv4(ip) ? 'IPv4' : 'IPv6', number) && index >= 0n && index < BigInt(range.size)
}

export interface Taken<T> {
  has(value: T): boolean
}

export function nextAddress(range: AddressRange, taken: Taken<string>, random: () => number): string | undefined {
  const reserved = Math.min(range.reserved, range.size)
  return (
    scan({ from: reserved, to: range.size }, random, (index) => freeAddressAt(range, taken, index)) ??
    scan({ from: 0, to: reserved }, random, (index) => freeAddressAt(range, taken, index))
  )
}

function freeAddressAt(range: AddressRange, taken: Taken<string>, index: number): string | undefined {
  const address = addressAt(range, index)
  return taken.has(address) ? undefined : address
}

interface Span {
  readonly from: number
  readonly to: number
}

export function scan<T>({ from, to }: Span, random: () => number, visit: (index: number) => T | undefined): T | undefined {
  const count = to - from
  const start = Math.floor(random() * count)
  for (let i = 0; i < count; i++) {
    const found = visit(from + ((start + i) % count))
    if (found !== undefined) return found
  }
  return undefined
}
