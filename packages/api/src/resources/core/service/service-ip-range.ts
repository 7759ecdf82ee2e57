// The addresses that services draw from: a range whose lower band is left to owners who choose, while strangers are served from above.

import { type Cidr, containsAddress, parseCidr, sizeOfCidr } from '../../api/validation/cidr.js'
import { isIpv4, parseIp } from '../../api/validation/ip.js'
import { type IpFamily, ipNumber, printIp } from '../../api/validation/ip-text.js'

export interface AddressRange {
  readonly family: IpFamily
  /** Such as `10.96.0.0/16`. */
  readonly text: string
  readonly cidr: Cidr
  /** How many addresses can be given: all but the network's own, and for IPv4 the broadcast address. */
  readonly size: number
  /** So many of them are given to strangers only when the others are gone. */
  readonly reserved: number
}

/** A wider range would not be used up anyway, and is kept countable. */
const maxSize = 65536n
const band = { step: 16, min: 16, max: 256 }

/** Throws when the text is no range. */
export function addressRangeOf(text: string): AddressRange {
  const cidr = parseCidr(text)
  if (cidr === undefined) throw new Error(`${JSON.stringify(text)} is not a range of addresses such as 10.96.0.0/16`)
  const all = sizeOfCidr(cidr)
  const size = cidr.family === 'IPv6' ? (all > maxSize ? maxSize : all) - 1n : all - 2n
  return {
    family: cidr.family,
    text: `${printIp(cidr.first, cidr.family)}/${cidr.bits}`,
    cidr,
    size: Number(size < 0n ? 0n : size),
    reserved: reservedOf(all),
  }
}

/** A sixteenth, but never fewer than 16 nor more than 256; small ranges have nothing to set aside. */
function reservedOf(all: bigint): number {
  if (all <= BigInt(band.min)) return 0
  const part = all / BigInt(band.step)
  return Number(part < BigInt(band.min) ? band.min : part > BigInt(band.max) ? band.max : part)
}

/** The address at a place in the range, counted from zero. The first belongs to the API's own service. */
export const addressAt = ({ cidr, family }: AddressRange, place: number): string => printIp(cidr.first + 1n + BigInt(place), family)

export const firstAddress = (range: AddressRange): string => addressAt(range, 0)

/** The range's own address, which nobody gets. */
export const networkAddress = (range: AddressRange): string => addressAt(range, -1)

/** Whether an address is one that can be given. */
export function isInRange(range: AddressRange, address: string): boolean {
  const ip = parseIp(address)
  if (ip === undefined) return false
  const number = ipNumber(ip)
  const place = number - range.cidr.first - 1n
  return containsAddress(range.cidr, isIpv4(ip) ? 'IPv4' : 'IPv6', number) && place >= 0n && place < BigInt(range.size)
}

/** Something that knows which values are taken. */
export interface Taken<T> {
  has(value: T): boolean
}

/** A free address at a random place, from above the reserved band as long as there is one; undefined when all are taken. */
export function nextAddress(range: AddressRange, taken: Taken<string>, random: () => number): string | undefined {
  const reserved = Math.min(range.reserved, range.size)
  return (
    scan({ from: reserved, to: range.size }, random, (place) => freeAt(range, taken, place)) ??
    scan({ from: 0, to: reserved }, random, (place) => freeAt(range, taken, place))
  )
}

function freeAt(range: AddressRange, taken: Taken<string>, place: number): string | undefined {
  const address = addressAt(range, place)
  return taken.has(address) ? undefined : address
}

interface Span {
  readonly from: number
  /** The first place behind the span. */
  readonly to: number
}

/** The first find from a random place on, once around. */
export function scan<T>({ from, to }: Span, random: () => number, look: (place: number) => T | undefined): T | undefined {
  const count = to - from
  const start = Math.floor(random() * count)
  for (let i = 0; i < count; i++) {
    const found = look(from + ((start + i) % count))
    if (found !== undefined) return found
  }
  return undefined
}
