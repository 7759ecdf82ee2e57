// Requests for certificates: who asks, for whom, and what became of it. For whom stands in the request itself, which is read here.

import type { CertificateSigningRequest } from '../../client/typed/types.js'
import { createdEntry, labelEntries, textOr, timeText } from './common.js'
import { block, type Entry, listOrNone } from './entry.js'

export function describeCertificateRequest(object: CertificateSigningRequest): readonly Entry[] {
  const { spec = {}, status } = object
  const conditions = status?.conditions ?? []
  const states = [...conditions.map(({ type }) => type ?? ''), ...((status?.certificate ?? '') === '' ? [] : ['Issued'])]
  return [
    ...labelEntries(object),
    createdEntry(object),
    ['Requesting User', textOr(spec.username)],
    ['Groups', spec.groups === undefined ? undefined : spec.groups.join(', ')],
    ['Signer', textOr(spec.signerName)],
    ['Requested Duration', spec.expirationSeconds === undefined ? undefined : `${spec.expirationSeconds}s`],
    ['Usages', listOrNone(spec.usages ?? [])],
    ['Status', states.length === 0 ? 'Pending' : states.join(',')],
    ...conditions.map(
      ({ type = '', reason = '', message = '', lastUpdateTime }): Entry => [
        type,
        `${timeText(lastUpdateTime)}  ${reason}  ${message}`.trimEnd(),
      ],
    ),
    ...subjectEntries(String(spec.request ?? '')),
  ]
}

function subjectEntries(request: string): readonly Entry[] {
  const pem = Buffer.from(request, 'base64').toString('latin1')
  const body = /-----BEGIN [A-Z ]*CERTIFICATE REQUEST-----([^-]*)-----END/.exec(pem)?.[1]
  try {
    const { subject, names } = readRequest(Buffer.from(body ?? '', 'base64'))
    const part = (oid: string): string | undefined =>
      subject
        .filter(([type]) => type === oid)
        .map(([, text]) => text)
        .join(', ') || undefined
    return [
      [
        'Subject',
        block([
          ['Common Name', part('550403') ?? ''],
          ['Serial Number', part('550405') ?? ''],
          ['Organization', part('55040a')],
          ['Organizational Unit', part('55040b')],
          ['Country', part('550406')],
          ['Locality', part('550407')],
          ['Province', part('550408')],
        ]),
      ],
      ['Subject Alternative Names', names.length === 0 ? undefined : names],
    ]
  } catch (thrown) {
    if (thrown instanceof RangeError) return [['Subject', `<cannot be read: ${thrown.message}>`]]
    throw thrown
  }
}

interface Element {
  readonly tag: number
  readonly content: Buffer
}

/** The elements that stand one after the other in these bytes, of which each says its length. */
function elementsOf(bytes: Buffer): readonly Element[] {
  const elements: Element[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at)
    let length = bytes.readUInt8(at + 1)
    at += 2
    if (length > 128) {
      const size = length - 128
      length = bytes.readUIntBE(at, Math.min(size, 6))
      at += size
    }
    if (length === 128 || at + length > bytes.length) throw new RangeError('it is cut off')
    elements.push({ tag, content: bytes.subarray(at, at + length) })
    at += length
  }
  return elements
}

const inside = (element: Element | undefined): readonly Element[] => {
  if (element === undefined) throw new RangeError('something is missing')
  return elementsOf(element.content)
}

function readRequest(bytes: Buffer): { readonly subject: readonly (readonly [string, string])[]; readonly names: readonly string[] } {
  const [whole] = elementsOf(bytes)
  const [info] = inside(whole)
  const [, name, , ...attributes] = inside(info)
  const subject = inside(name)
    .flatMap(inside)
    .map((pair) => {
      const [type, value] = inside(pair)
      return [type?.content.toString('hex') ?? '', value?.content.toString('utf8') ?? ''] as const
    })
  return { subject, names: attributes.flatMap(inside).flatMap(namesOfAttribute) }
}

/** The extensions that are asked for; among them other names of the subject. */
function namesOfAttribute(attribute: Element): readonly string[] {
  const [type, values] = inside(attribute)
  if (type?.content.toString('hex') !== '2a864886f70d01090e') return []
  return inside(values)
    .flatMap(inside)
    .flatMap((extension) => {
      const parts = inside(extension)
      if (parts[0]?.content.toString('hex') !== '551d11') return []
      return inside(parts.at(-1)).flatMap(inside).map(otherName)
    })
}

function otherName({ tag, content }: Element): string {
  const kind = tag & 31
  if (kind === 7) return `IP: ${content.length === 4 ? [...content].join('.') : (content.toString('hex').match(/.{1,4}/g) ?? []).join(':')}`
  return `${{ 1: 'Email', 2: 'DNS', 6: 'URI' }[kind] ?? 'Other'}: ${content.toString('utf8')}`
}
