// Makes certificates with elliptic keys: a certificate authority, and what it signs. Written by hand because it takes milliseconds,
// where loading a library for it takes longer than the rest of a server's start.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'
import * as der from './der.js'

/** PEM texts. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

export interface CertificateRequest {
  readonly commonName: string
  /** Each is one group of a user who shows the certificate. */
  readonly organizations?: readonly string[]
  /** DNS names and IP addresses of a server. */
  readonly hosts?: readonly string[]
  readonly use: 'authority' | 'server' | 'client'
  /** Mail addresses and URIs by which its owner is known as well. */
  readonly emails?: readonly string[]
  readonly uris?: readonly string[]
  /** Whether data may be signed with it; if left out, it may. */
  readonly signsData?: boolean
  /** Whether keys may be sent enciphered with it, as RSA keys are used for. */
  readonly enciphersKeys?: boolean
  /** Milliseconds since 1970. */
  readonly notBefore: number
  readonly notAfter: number
}

const ids = {
  ecdsaWithSha256: der.objectId('1.2.840.10045.4.3.2'),
  rsaWithSha256: der.objectId('1.2.840.113549.1.1.11'),
  ed25519: der.objectId('1.3.101.112'),
  commonName: der.objectId('2.5.4.3'),
  organization: der.objectId('2.5.4.10'),
  subjectKey: der.objectId('2.5.29.14'),
  keyUsage: der.objectId('2.5.29.15'),
  hosts: der.objectId('2.5.29.17'),
  constraints: der.objectId('2.5.29.19'),
  authorityKey: der.objectId('2.5.29.35'),
  extendedUsage: der.objectId('2.5.29.37'),
  server: der.objectId('1.3.6.1.5.5.7.3.1'),
  client: der.objectId('1.3.6.1.5.5.7.3.2'),
} as const

export type Authority = KeyPair & { readonly commonName: string }

type OwnName = Pick<Authority, 'key' | 'commonName'> & Pick<CertificateRequest, 'organizations'>

/** One that was made elsewhere, with any kind of key; its name as it is written in its certificate. */
export interface SigningAuthority {
  readonly key: string
  readonly name: Buffer
}

type Signer = OwnName | SigningAuthority

/** Under which name and with which key it is signed; the public half is named in it, where that is known. */
interface Signing {
  readonly name: Buffer
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject | undefined
}

/** Signed by `authority`, or by itself when that is left out. */
export function issueCertificate(request: CertificateRequest, authority?: Authority): KeyPair {
  const own = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const key = own.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  if (authority !== undefined) return { cert: certifyKey(request, own.publicKey, authority), key }
  // Not by the text of the key: to read that takes longer than to make a key.
  return { cert: certify(request, own.publicKey, { name: nameOf(request), ...own }), key }
}

/** A certificate for a key of somebody else's, of which only the public half is known. */
export function certifyKey(request: CertificateRequest, publicKey: KeyObject, authority: Signer): string {
  const privateKey = createPrivateKey(authority.key)
  // Others may have named their key in another way.
  if ('name' in authority) return certify(request, publicKey, { name: authority.name, privateKey, publicKey: undefined })
  return certify(request, publicKey, { name: nameOf(authority), privateKey, publicKey: createPublicKey(privateKey) })
}

function certify(request: CertificateRequest, publicKey: KeyObject, signer: Signing): string {
  const algorithm = algorithmOf(signer.privateKey)
  const body = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))),
    der.integer(serialNumber()),
    algorithm,
    signer.name,
    der.sequence(der.time(request.notBefore), der.time(request.notAfter)),
    nameOf(request),
    publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(3, der.sequence(...extensions(request, publicKey, signer.publicKey))),
  )
  const digest = signer.privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  return pem(der.sequence(body, algorithm, der.bits(sign(digest, body, signer.privateKey))))
}

function algorithmOf({ asymmetricKeyType }: KeyObject): Buffer {
  switch (asymmetricKeyType) {
    case 'ec':
      return der.sequence(ids.ecdsaWithSha256)
    case 'rsa':
      return der.sequence(ids.rsaWithSha256, der.nothing)
    case 'ed25519':
      return der.sequence(ids.ed25519)
    default:
      throw new Error(`certificates cannot be signed with a key of type ${asymmetricKeyType}`)
  }
}

/** Random, positive, and never with a leading zero byte, which DER would not allow. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = 0x40 | ((bytes[0] ?? 0) & 0x3f)
  return bytes
}

function nameOf({ commonName, organizations = [] }: Pick<CertificateRequest, 'commonName' | 'organizations'>): Buffer {
  const part = (id: Buffer, value: string): Buffer => der.set(der.sequence(id, der.text(value)))
  return der.sequence(...organizations.map((organization) => part(ids.organization, organization)), part(ids.commonName, commonName))
}

function extensions(request: CertificateRequest, own: KeyObject, signer: KeyObject | undefined): readonly Buffer[] {
  const critical = (id: Buffer, content: Buffer): Buffer => der.sequence(id, der.boolean(true), der.octets(content))
  const plain = (id: Buffer, content: Buffer): Buffer => der.sequence(id, der.octets(content))
  const isAuthority = request.use === 'authority'
  const names = [
    ...(request.hosts ?? []).map(hostName),
    ...(request.emails ?? []).map((email) => der.implicit(1, Buffer.from(email))),
    ...(request.uris ?? []).map((uri) => der.implicit(6, Buffer.from(uri))),
  ]
  const usage = keyUsage(request)
  return [
    critical(ids.constraints, isAuthority ? der.sequence(der.boolean(true)) : der.sequence()),
    // One bit each, from the left: signing of data is bit 0, encipherment of keys bit 2, signing of certificates bit 5, of revocations bit 6.
    ...(usage === undefined ? [] : [critical(ids.keyUsage, usage)]),
    ...(request.use === 'authority' ? [] : [plain(ids.extendedUsage, der.sequence(ids[request.use]))]),
    ...(names.length === 0 ? [] : [plain(ids.hosts, der.sequence(...names))]),
    plain(ids.subjectKey, der.octets(keyId(own))),
    ...(signer === undefined ? [] : [plain(ids.authorityKey, der.sequence(der.implicit(0, keyId(signer))))]),
  ]
}

/** Undefined: it says nothing of that. */
function keyUsage({ use, signsData = true, enciphersKeys = false }: CertificateRequest): Buffer | undefined {
  if (use === 'authority') return der.bits(Buffer.from([0b1000_0110]), 1)
  if (!signsData && !enciphersKeys) return undefined
  const bits = (signsData ? 0b1000_0000 : 0) | (enciphersKeys ? 0b0010_0000 : 0)
  return der.bits(Buffer.from([bits]), enciphersKeys ? 5 : 7)
}

const keyId = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()

function hostName(host: string): Buffer {
  return host.includes(':') || isIPv4(host) ? der.implicit(7, addressBytes(host)) : der.implicit(2, Buffer.from(host))
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // The URL parser writes every IPv6 address in one form: hexadecimal groups, and at most one `::`.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (part: string): readonly number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const left = groups(head)
  const right = groups(tail)
  const all = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]))
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
