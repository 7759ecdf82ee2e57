// IP address parser, lenient like kube-apiserver (leading zeros, any case). Also special ranges that endpoints may not use, and text.

import { type FieldError, invalid } from '../../field-error.js'
import { noErrors } from '../checks.js'
import { noProblems } from '../name-formats.js'

/** 16 bytes; IPv4 addresses are mapped (`::ffff:a.b.c.d`). */
export type IpBytes = readonly number[]

const ipv4Prefix: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
const ipv4Part = /^0*\d{1,3}$/
const ipv6Group = /^0*[0-9a-fA-F]{1,4}$/

export function parseIp(text: string): IpBytes | undefined {
  if (text.includes(':')) return parseIpv6(text)
  const bytes = parseIpv4(text)
  return bytes === undefined ? undefined : [...ipv4Prefix, ...bytes]
}

export const isIpv4 = (ip: IpBytes): boolean => ipv4Prefix.every((byte, i) => ip[i] === byte)

function parseIpv4(text: string): readonly number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => ipv4Part.test(part) && Number(part) <= 255)) return undefined
  return parts.map(Number)
}

function parseIpv6(text: string): IpBytes | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = [groupBytes(halves[0] ?? '', halves.length === 1), groupBytes(halves[1] ?? '', true)]
  if (head === undefined || tail === undefined) return undefined
  const missing = 16 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined
  return [...head, ...new Array<number>(missing).fill(0), ...tail]
}

function groupBytes(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [i, group] of groups.entries()) {
    if (ipv6Group.test(group)) {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 255)
    } else {
      const ipv4 = isLast && i === groups.length - 1 ? parseIpv4(group) : undefined
      if (ipv4 === undefined) return undefined
      bytes.push(...ipv4)
    }
  }
  return bytes
}

const notAnAddress = Object.freeze(['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'])

export const ipAddress = (text: string): readonly string[] => (parseIp(text) === undefined ? notAnAddress : noProblems)

interface SpecialRange {
  readonly problem: string
  /** Receives the first three bytes of an IPv4 address. */
  readonly v4: (a: number, b: number, c: number) => boolean
  readonly v6: (ip: IpBytes) => boolean
}

const linkLocalProblem = 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'
const multicastProblem = 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'

const specialRanges: readonly SpecialRange[] = [
  {
    problem: 'may not be in the loopback range (127.0.0.0/8, ::1/128)',
    v4: (a) => a === 127,
    v6: (ip) => ip[15] === 1 && ip.every((byte, i) => i === 15 || byte === 0),
  },
  { problem: linkLocalProblem, v4: (a, b) => a === 169 && b === 254, v6: (ip) => ip[0] === 0xfe && ((ip[1] ?? 0) & 0xc0) === 0x80 },
  {
    problem: multicastProblem,
    v4: (a, b, c) => a === 224 && b === 0 && c === 0,
    v6: (ip) => ip[0] === 0xff && ((ip[1] ?? 0) & 0x0f) === 0x02,
  },
]

export function checkReachableIp(text: string, field: string): readonly FieldError[] {
  const ip = parseIp(text)
  if (ip === undefined) return [invalid(field, text, 'must be a valid IP address')]
  const isV4 = isIpv4(ip)
  if (ip.every((byte, i) => byte === 0 || (isV4 && i < 12))) return [invalid(field, text, `may not be unspecified (${text})`)]
  const [a = 0, b = 0, c = 0] = ip.slice(12)
  const specialRange = specialRanges.find((range) => (isV4 ? range.v4(a, b, c) : range.v6(ip)))
  return specialRange === undefined ? noErrors : [invalid(field, text, specialRange.problem)]
}

export function isGlobalUnicast(ip: IpBytes): boolean {
  if (!isIpv4(ip)) return !ip.every((byte) => byte === 0) && ip[0] !== 0xff && !isSpecial(ip)
  const [a = 0] = ip.slice(12)
  return !ip.slice(12).every((byte) => byte === 0) && !ip.slice(12).every((byte) => byte === 255) && (a < 224 || a > 239) && !isSpecial(ip)
}

function isSpecial(ip: IpBytes): boolean {
  const [a = 0, b = 0, c = 0] = ip.slice(12)
  return specialRanges.some((range) => (isIpv4(ip) ? range.v4(a, b, c) : range.v6(ip)))
}

export const ipText = (ip: IpBytes): string =>
  isIpv4(ip)
    ? ip.slice(12).join('.')
    : Array.from({ length: 8 }, (_, i) => (((ip[2 * i] ?? 0) << 8) | (ip[2 * i + 1] ?? 0)).toString(16)).join(':')
