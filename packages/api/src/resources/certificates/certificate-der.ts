// What the bytes inside the two kinds of PEM blocks are: a request for a certificate, or a certificate.

import { decodeText } from '../core/base64-text.js'
import { DerError, type DerValue, derMembers, derTags, readDer, readObjectId } from './der.js'
import { pemBlocks } from './pem.js'

/** Who a request wants to be, and what one needs to check that it owns the key. */
export interface CertificateRequest {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** Names and addresses of a server. */
  readonly hosts: readonly string[]
  /** What else it wants to be called by. */
  readonly emails: readonly string[]
  readonly uris: readonly string[]
  /** The bytes that are signed, the public key as a SubjectPublicKeyInfo, and the signature. */
  readonly signed: Uint8Array
  readonly publicKey: Uint8Array
  readonly signatureAlgorithm: string
  readonly signature: Uint8Array
}

/** What is wrong with a text that should be one of the two; the sentence is for users. */
export class SignedDataError extends Error {
  override readonly name = 'SignedDataError'
}

const utf8 = new TextDecoder()
const commonNameId = '2.5.4.3'
const organizationId = '2.5.4.10'

/** From the base64 of PEM text. Throws {@link SignedDataError}. */
export function readCertificateRequest(base64: string): CertificateRequest {
  const [block] = pemBlocks(decodeText(base64))
  if (block?.type !== 'CERTIFICATE REQUEST') throw new SignedDataError('PEM block type must be CERTIFICATE REQUEST')
  return asSignedData('the PEM block must hold a PKCS#10 certificate request', () => readRequest(block.bytes))
}

function readRequest(bytes: Uint8Array): CertificateRequest {
  const [info, algorithm, signature] = readSigned(bytes)
  const [version, subject, publicKey, attributes] = derMembers(info)
  if (version?.tag !== derTags.integer) throw new DerError('there is no version')
  derMembers(publicKey)
  const names = readNames(subject)
  return {
    commonName: names.findLast(({ id }) => id === commonNameId)?.text ?? '',
    organizations: names.filter(({ id }) => id === organizationId).map(({ text }) => text),
    ...readAlternatives(attributes),
    signed: wholeOf(info),
    publicKey: wholeOf(publicKey),
    signatureAlgorithm: readObjectId(derMembers(algorithm)[0] ?? fail()),
    signature: (signature?.content ?? fail()).subarray(1),
  }
}

const extensionsId = '1.2.840.113549.1.9.14'
const alternativesId = '2.5.29.17'
const tags = { email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 } as const

/** The alternative names among the extensions that are asked for. */
function readAlternatives(attributes: DerValue | undefined): Pick<CertificateRequest, 'hosts' | 'emails' | 'uris'> {
  const names = (attributes === undefined ? [] : readDer(attributes.content)).flatMap((attribute) => {
    const [id, values] = derMembers(attribute)
    if (id === undefined || readObjectId(id) !== extensionsId) return []
    return derMembers(values, derTags.set).flatMap((list) => derMembers(list).flatMap(readExtension))
  })
  const hosts = names.flatMap(({ tag, content }) =>
    tag === tags.dns ? [utf8.decode(content)] : tag === tags.address ? [addressOf(content)] : [],
  )
  const textsOf = (wanted: number): readonly string[] => names.flatMap(({ tag, content }) => (tag === wanted ? [utf8.decode(content)] : []))
  return { hosts, emails: textsOf(tags.email), uris: textsOf(tags.uri) }
}

function readExtension(extension: DerValue): readonly DerValue[] {
  const parts = derMembers(extension)
  const [id] = parts
  if (id === undefined || readObjectId(id) !== alternativesId) return []
  return derMembers(readDer((parts.at(-1) ?? fail()).content)[0])
}

function addressOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16) fail()
  return Array.from({ length: 8 }, (_, i) => (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16)).join(':')
}

/** Certificates and requests are built alike: content, algorithm, signature. */
function readSigned(bytes: Uint8Array): readonly DerValue[] {
  const [whole, ...more] = readDer(bytes)
  const parts = derMembers(whole)
  if (more.length > 0 || parts.length !== 3 || parts[2]?.tag !== derTags.bits) fail()
  return parts
}

/** The attributes of a distinguished name, in order. */
function readNames(subject: DerValue | undefined): readonly { readonly id: string; readonly text: string }[] {
  return derMembers(subject).flatMap((set) =>
    derMembers(set, derTags.set).map((attribute) => {
      const [id, value] = derMembers(attribute)
      return { id: readObjectId(id ?? fail()), text: utf8.decode((value ?? fail()).content) }
    }),
  )
}

/** A value with its tag and length, as it lies before its content in the same buffer. */
function wholeOf(value: DerValue | undefined): Uint8Array {
  const { content } = value ?? fail()
  const size = content.length
  const head = size < 0x80 ? 2 : size < 0x100 ? 3 : size < 0x10000 ? 4 : size < 0x1000000 ? 5 : 6
  return new Uint8Array(content.buffer, content.byteOffset - head, head + size)
}

function fail(): never {
  throw new DerError('the parts are not where they belong')
}

function asSignedData<T>(problem: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof DerError) throw new SignedDataError(problem)
    throw thrown
  }
}

/** One certificate at least, and nothing else, from the base64 of PEM text. Throws {@link SignedDataError}. */
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
