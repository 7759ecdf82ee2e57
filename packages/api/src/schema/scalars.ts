// Canonical text of times (RFC 3339) and bytes (base64).

import { isBase64 } from '../base/text/base64.js'

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)$/
const sixDecimals = 7

/** Returns UTC with whole seconds, or six decimals if `micro`; undefined if invalid, or if `micro` and the text has not six decimals. */
export function readTime(text: string, micro: boolean): string | undefined {
  if (!micro && text.length === 20 && text.endsWith('Z') && rfc3339.test(text) && isValidDateTime(text)) return text
  const match = rfc3339.exec(text)
  if (match === null || !isValidDateTime(text) || (micro && match[7]?.length !== sixDecimals)) return undefined
  const wholeMs = Date.parse(`${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6]}${match[8] ?? 'Z'}`)
  if (Number.isNaN(wholeMs)) return undefined
  const seconds = new Date(wholeMs).toISOString().slice(0, 19)
  if (!micro) return `${seconds}Z`
  return `${seconds}.${match[7]?.slice(1)}Z`
}

/** False for 31 February and 24:00, which `Date.parse` accepts in some formats. */
function isValidDateTime(text: string): boolean {
  if (text.slice(11, 13) > '23' || text.slice(14, 16) > '59' || text.slice(17, 19) > '59') return false
  const month = Number(text.slice(5, 7))
  const day = Number(text.slice(8, 10))
  if (month < 1 || month > 12 || day < 1) return false
  return day <= 28 || day <= new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate()
}

let lastSecond = Number.NaN
let lastText = ''

/** Formats milliseconds as RFC 3339 in whole seconds. Caches the last text. */
export function timeOf(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== lastSecond) {
    lastSecond = second
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`
  }
  return lastText
}

/** Returns base64 without line breaks; undefined if invalid. */
export function readBytes(text: string): string | undefined {
  const unbroken = text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, '') : text
  return isBase64(unbroken) ? unbroken : undefined
}
