// Issues X.509 certificates with ECDSA keys. Without a library, whose loading would take longer than the rest of a start.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'
import * as der from './der.js'

export interface KeyPair {
  readonly cert: string
  readonly key: string
}

export interface CertificateRequest {
  readonly commonName: string
  /** Groups of the user of a client certificate. */
  readonly organizations?: readonly string[]
  readonly hosts?: readonly string[]
  readonly use: 'authority' | 'server' | 'client'
  readonly emails?: readonly string[]
  readonly uris?: readonly string[]
  readonly signsData?: boolean
  readonly enciphersKeys?: boolean
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
  subjectAltName: der.objectId('2.5.29.17'),
  constraints: der.objectId('2.5.29.19'),
  authorityKey: der.objectId('2.5.29.35'),
  extendedUsage: der.objectId('2.5.29.37'),
  server: der.objectId('1.3.6.1.5.5.7.3.1'),
  client: der.objectId('1.3.6.1.5.5.7.3.2'),
} as const

export type Authority = KeyPair & { readonly commonName: string }

type NamedKey = Pick<Authority, 'key' | 'commonName'> & Pick<CertificateRequest, 'organizations'>

/** A CA of the operator: DER name and PEM key, of any key type. */
export interface SigningAuthority {
  readonly key: string
  readonly name: Buffer
}

type Signer = NamedKey | SigningAuthority

/** Issuer of a certificate. If its public key is known, the certificate gets an authority key identifier. */
interface Issuer {
  readonly name: Buffer
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject | undefined
}

/** Issues a certificate for a new key, signed by `authority` or self-signed. */
export function issueCertificate(request: CertificateRequest, authority?: Authority): KeyPair {
  const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  if (authority !== undefined) return { cert: certifyKey(request, keys.publicKey, authority), key }
  // Uses the key object: parsing PEM takes longer than generating a key.
  return { cert: certify(request, keys.publicKey, { name: nameOf(request), ...keys }), key }
}

/** Issues a certificate for an existing public key. */
export function certifyKey(request: CertificateRequest, publicKey: KeyObject, authority: Signer): string {
  const privateKey = createPrivateKey(authority.key)
  // No authority key identifier: the operator's CA may have another subject key identifier than the one that is computed here.
  if ('name' in authority) return certify(request, publicKey, { name: authority.name, privateKey, publicKey: undefined })
  return certify(request, publicKey, { name: nameOf(authority), privateKey, publicKey: createPublicKey(privateKey) })
}

function certify(request: CertificateRequest, publicKey: KeyObject, signer: Issuer): string {
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
      return der.sequence(ids.rsaWithSha256, der.nullValue)
    case 'ed25519':
      return der.sequence(ids.ed25519)
    default:
      throw new Error(`certificates cannot be signed with a key of type ${asymmetricKeyType}`)
  }
}

/** 16 random bytes: positive, without a leading zero byte, which DER does not allow. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = 0x40 | ((bytes[0] ?? 0) & 0x3f)
  return bytes
}

function nameOf({ commonName, organizations = [] }: Pick<CertificateRequest, 'commonName' | 'organizations'>): Buffer {
  const part = (id: Buffer, value: string): Buffer => der.set(der.sequence(id, der.text(value)))
  return der.sequence(...organizations.map((organization) => part(ids.organization, organization)), part(ids.commonName, commonName))
}

function extensions(request: CertificateRequest, publicKey: KeyObject, signerKey: KeyObject | undefined): readonly Buffer[] {
  const critical = (id: Buffer, content: Buffer): Buffer => der.sequence(id, der.boolean(true), der.octets(content))
  const nonCritical = (id: Buffer, content: Buffer): Buffer => der.sequence(id, der.octets(content))
  const isAuthority = request.use === 'authority'
  const names = [
    ...(request.hosts ?? []).map(hostName),
    ...(request.emails ?? []).map((email) => der.implicit(1, Buffer.from(email))),
    ...(request.uris ?? []).map((uri) => der.implicit(6, Buffer.from(uri))),
  ]
  const usage = keyUsage(request)
  return [
    critical(ids.constraints, isAuthority ? der.sequence(der.boolean(true)) : der.sequence()),
    ...(usage === undefined ? [] : [critical(ids.keyUsage, usage)]),
    ...(request.use === 'authority' ? [] : [nonCritical(ids.extendedUsage, der.sequence(ids[request.use]))]),
    ...(names.length === 0 ? [] : [nonCritical(ids.subjectAltName, der.sequence(...names))]),
    nonCritical(ids.subjectKey, der.octets(keyId(publicKey))),
    ...(signerKey === undefined ? [] : [nonCritical(ids.authorityKey, der.sequence(der.implicit(0, keyId(signerKey))))]),
  ]
}

/** Bits from the left: 0 digitalSignature, 2 keyEncipherment, 5 keyCertSign, 6 cRLSign. Undefined: no extension. */
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
  // The URL parser normalizes IPv6 addresses: hexadecimal groups, at most one `::`.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (part: string): readonly number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const leadingGroups = groups(head)
  const trailingGroups = groups(tail)
  const all = [...leadingGroups, ...new Array<number>(8 - leadingGroups.length - trailingGroups.length).fill(0), ...trailingGroups]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]))
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
