// DER and PEM reader for PKCS#10 certificate requests and X.509 certificates.

import { decodeBase64 } from '../../base/text/base64.js'
import { decodeText } from '../core/base64-text.js'

interface DerValue {
  readonly tag: number
  readonly content: Uint8Array
}

const derTags = { integer: 0x02, bitString: 0x03, objectId: 0x06, sequence: 0x30, set: 0x31 } as const

export class DerError extends Error {
  override readonly name = 'DerError'
}

export function readDer(bytes: Uint8Array): readonly DerValue[] {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0
    if ((tag & 0x1f) === 0x1f) throw new DerError('multi-byte DER tags are not supported')
    const { length, start } = readLength(bytes, at + 1)
    if (start + length > bytes.length) throw new DerError('the DER data is truncated')
    values.push({ tag, content: bytes.subarray(start, start + length) })
    at = start + length
  }
  return values
}

function readLength(bytes: Uint8Array, at: number): { readonly length: number; readonly start: number } {
  const first = bytes[at]
  if (first === undefined) throw new DerError('the DER data is truncated')
  if (first < 0x80) return { length: first, start: at + 1 }
  const count = first & 0x7f
  if (count === 0 || count > 4) throw new DerError('invalid DER length')
  let length = 0
  for (let i = 1; i <= count; i++) length = length * 256 + (bytes[at + i] ?? 0)
  return { length, start: at + 1 + count }
}

export function derMembers(value: DerValue | undefined, tag: number = derTags.sequence): readonly DerValue[] {
  if (value?.tag !== tag) throw new DerError('unexpected DER structure')
  return readDer(value.content)
}

function readObjectId({ content }: DerValue): string {
  const numbers: number[] = []
  let number = 0
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f)
    if (byte < 0x80) {
      numbers.push(number)
      number = 0
    }
  }
  const [head = 0, ...rest] = numbers
  const first = Math.min(Math.floor(head / 40), 2)
  return [first, head - first * 40, ...rest].join('.')
}

interface PemBlock {
  readonly type: string
  readonly hasHeaders: boolean
  readonly bytes: Uint8Array
}

const boundary = /^-----(BEGIN|END) ([^\n]*)-----[ \t\r]*$/gm

/** Skips malformed blocks. Matches line by line, in linear time. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = []
  let begin: { readonly type: string; readonly start: number } | undefined
  for (const { 0: line, 1: word, 2: type = '', index } of text.matchAll(boundary)) {
    if (word === 'BEGIN') begin = { type, start: index + line.length + 1 }
    else if (begin !== undefined) {
      const block = begin.type === type ? readBlock(type, text.slice(begin.start, index)) : undefined
      if (block !== undefined) blocks.push(block)
      begin = undefined
    }
  }
  return blocks
}

const headerLines = /^(?:[^\n:]+:[^\n]*\n)+\s*/

function readBlock(type: string, body: string): PemBlock | undefined {
  const headers = headerLines.exec(body)?.[0] ?? ''
  const bytes = decodeBase64(body.slice(headers.length).replace(/\s/g, ''))
  return typeof bytes === 'number' ? undefined : { type, hasHeaders: headers !== '', bytes }
}

export interface CertificateRequest {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly hosts: readonly string[]
  readonly emails: readonly string[]
  readonly uris: readonly string[]
  readonly signed: Uint8Array
  readonly publicKey: Uint8Array
  readonly signatureAlgorithm: string
  readonly signature: Uint8Array
}

/** Error whose message becomes part of a Status. */
export class SignedDataError extends Error {
  override readonly name = 'SignedDataError'
}

const utf8 = new TextDecoder()
const commonNameId = '2.5.4.3'
const organizationId = '2.5.4.10'

export function readCertificateRequest(base64: string): CertificateRequest {
  const [block] = pemBlocks(decodeText(base64))
  if (block?.type !== 'CERTIFICATE REQUEST') throw new SignedDataError('PEM block type must be CERTIFICATE REQUEST')
  return asSignedData('the PEM block must hold a PKCS#10 certificate request', () => readRequest(block.bytes))
}

function readRequest(bytes: Uint8Array): CertificateRequest {
  const [info, algorithm, signature] = readSigned(bytes)
  const [version, subject, publicKey, attributes] = derMembers(info)
  if (version?.tag !== derTags.integer) throw new DerError('the version is missing')
  derMembers(publicKey)
  const names = readNames(subject)
  return {
    commonName: names.findLast(({ id }) => id === commonNameId)?.text ?? '',
    organizations: names.filter(({ id }) => id === organizationId).map(({ text }) => text),
    ...readSubjectAltNames(attributes),
    signed: encodedBytesOf(info),
    publicKey: encodedBytesOf(publicKey),
    signatureAlgorithm: readObjectId(derMembers(algorithm)[0] ?? fail()),
    signature: (signature?.content ?? fail()).subarray(1),
  }
}

const extensionsId = '1.2.840.113549.1.9.14'
const subjectAltNameId = '2.5.29.17'
const altNameTags = { email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 } as const

function readSubjectAltNames(attributes: DerValue | undefined): Pick<CertificateRequest, 'hosts' | 'emails' | 'uris'> {
  const names = (attributes === undefined ? [] : readDer(attributes.content)).flatMap((attribute) => {
    const [id, values] = derMembers(attribute)
    if (id === undefined || readObjectId(id) !== extensionsId) return []
    return derMembers(values, derTags.set).flatMap((list) => derMembers(list).flatMap(readExtension))
  })
  const hosts = names.flatMap(({ tag, content }) =>
    tag === altNameTags.dns ? [utf8.decode(content)] : tag === altNameTags.address ? [addressOf(content)] : [],
  )
  const textsOf = (wantedTag: number): readonly string[] =>
    names.flatMap(({ tag, content }) => (tag === wantedTag ? [utf8.decode(content)] : []))
  return { hosts, emails: textsOf(altNameTags.email), uris: textsOf(altNameTags.uri) }
}

function readExtension(extension: DerValue): readonly DerValue[] {
  const parts = derMembers(extension)
  const [id] = parts
  if (id === undefined || readObjectId(id) !== subjectAltNameId) return []
  return derMembers(readDer((parts.at(-1) ?? fail()).content)[0])
}

function addressOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16) fail()
  return Array.from({ length: 8 }, (_, i) => (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16)).join(':')
}

function readSigned(bytes: Uint8Array): readonly DerValue[] {
  const [whole, ...more] = readDer(bytes)
  const parts = derMembers(whole)
  if (more.length > 0 || parts.length !== 3 || parts[2]?.tag !== derTags.bitString) fail()
  return parts
}

function readNames(subject: DerValue | undefined): readonly { readonly id: string; readonly text: string }[] {
  return derMembers(subject).flatMap((set) =>
    derMembers(set, derTags.set).map((attribute) => {
      const [id, value] = derMembers(attribute)
      return { id: readObjectId(id ?? fail()), text: utf8.decode((value ?? fail()).content) }
    }),
  )
}

/** The DER encoding with tag and length. */
function encodedBytesOf(value: DerValue | undefined): Uint8Array {
  const { content } = value ?? fail()
  const size = content.length
  const headerBytes = size < 0x80 ? 2 : size < 0x100 ? 3 : size < 0x10000 ? 4 : size < 0x1000000 ? 5 : 6
  return new Uint8Array(content.buffer, content.byteOffset - headerBytes, headerBytes + size)
}

function fail(): never {
  throw new DerError('unexpected DER structure')
}

function asSignedData<T>(problem: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof DerError) throw new SignedDataError(problem)
    throw thrown
  }
}

/** Requires at least one CERTIFICATE block and no other PEM blocks. Throws {@link SignedDataError}. */
export function checkCertificates(base64: string): void {
  const blocks = pemBlocks(decodeText(base64))
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') throw new SignedDataError(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`)
    if (hasHeaders) throw new SignedDataError('no PEM block headers are permitted')
    if (bytes.length === 0) throw new SignedDataError('found CERTIFICATE PEM block containing 0 certificates')
    asSignedData('a CERTIFICATE PEM block must hold an X.509 certificate', () => derMembers(readSigned(bytes)[0]))
  }
  if (blocks.length === 0) throw new SignedDataError('must contain at least one CERTIFICATE PEM block')
}
