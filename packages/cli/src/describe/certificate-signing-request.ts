// Description of CertificateSigningRequests, with the subject parsed from the PKCS #10 request.

import type { CertificateSigningRequest } from '@cluster-apiserver/client/typed/types.js'
import { createdEntry, labelEntries, textOr, timeText } from './common-fields.js'
import { block, type Entry, listOrNone } from './description.js'

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
    const { subject, names } = parseRequest(Buffer.from(body ?? '', 'base64'))
    const attributeText = (oid: string): string | undefined =>
      subject
        .filter(([type]) => type === oid)
        .map(([, text]) => text)
        .join(', ') || undefined
    return [
      [
        'Subject',
        block([
          ['Common Name', attributeText('550403') ?? ''],
          ['Serial Number', attributeText('550405') ?? ''],
          ['Organization', attributeText('55040a')],
          ['Organizational Unit', attributeText('55040b')],
          ['Country', attributeText('550406')],
          ['Locality', attributeText('550407')],
          ['Province', attributeText('550408')],
        ]),
      ],
      ['Subject Alternative Names', names.length === 0 ? undefined : names],
    ]
  } catch (thrown) {
    if (thrown instanceof RangeError) return [['Subject', `<cannot be read: ${thrown.message}>`]]
    throw thrown
  }
}

/** OBJECT IDENTIFIERs, DER-encoded in hexadecimal. */
const extensionRequestOid = '2a864886f70d01090e'
const subjectAltNameOid = '551d11'

/** A DER element. */
interface Element {
  readonly tag: number
  readonly content: Buffer
}

function elementsOf(bytes: Buffer): readonly Element[] {
  const elements: Element[] = []
  for (let offset = 0; offset < bytes.length; ) {
    const tag = bytes.readUInt8(offset)
    let length = bytes.readUInt8(offset + 1)
    offset += 2
    if (length > 128) {
      const size = length - 128
      length = bytes.readUIntBE(offset, Math.min(size, 6))
      offset += size
    }
    if (length === 128 || offset + length > bytes.length) throw new RangeError('truncated DER')
    elements.push({ tag, content: bytes.subarray(offset, offset + length) })
    offset += length
  }
  return elements
}

const childrenOf = (element: Element | undefined): readonly Element[] => {
  if (element === undefined) throw new RangeError('missing DER element')
  return elementsOf(element.content)
}

function parseRequest(bytes: Buffer): { readonly subject: readonly (readonly [string, string])[]; readonly names: readonly string[] } {
  const [request] = elementsOf(bytes)
  const [info] = childrenOf(request)
  const [, name, , ...attributes] = childrenOf(info)
  const subject = childrenOf(name)
    .flatMap(childrenOf)
    .map((pair) => {
      const [type, value] = childrenOf(pair)
      return [type?.content.toString('hex') ?? '', value?.content.toString('utf8') ?? ''] as const
    })
  return { subject, names: attributes.flatMap(childrenOf).flatMap(namesOfAttribute) }
}

function namesOfAttribute(attribute: Element): readonly string[] {
  const [type, values] = childrenOf(attribute)
  if (type?.content.toString('hex') !== extensionRequestOid) return []
  return childrenOf(values)
    .flatMap(childrenOf)
    .flatMap((extension) => {
      const parts = childrenOf(extension)
      if (parts[0]?.content.toString('hex') !== subjectAltNameOid) return []
      return childrenOf(parts.at(-1)).flatMap(childrenOf).map(generalNameText)
    })
}

function generalNameText({ tag, content }: Element): string {
  const kind = tag & 31
  if (kind === 7) return `IP: ${content.length === 4 ? [...content].join('.') : (content.toString('hex').match(/.{1,4}/g) ?? []).join(':')}`
  return `${{ 1: 'Email', 2: 'DNS', 6: 'URI' }[kind] ?? 'Other'}: ${content.toString('utf8')}`
}
