// Reads the EgressSelectorConfiguration. HTTP CONNECT proxies are supported; GRPC proxies are rejected, so that no connection bypasses one.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'

export type EgressName = 'controlplane' | 'etcd' | 'cluster'

export type ProxySettings =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls?: ProxyFiles | undefined }

interface ProxyFiles {
  /** Undefined: the root CAs of Node.js. */
  readonly caFile: string | undefined
  readonly certFile: string
  readonly keyFile: string
}

/** Connections without an entry are direct. */
export type EgressSettings = { readonly [Name in EgressName]?: ProxySettings }

/** v1alpha1 also accepts `master` for `controlplane`. */
const egressNames: readonly string[] = ['controlplane', 'etcd', 'cluster'] satisfies readonly EgressName[]

export function parseEgressConfig(text: string, identity: Identity): EgressSettings {
  const config: unknown = readYaml(text).value
  if (!isRecord(config)) throw new Error('the file: must be a mapping')
  const { kind, apiVersion, egressSelections = [], ...rest } = config
  const group = identity.group({ stem: 'apiserver' })
  const versions = [`${group}/v1beta1`, `${group}/v1alpha1`]
  if (kind !== 'EgressSelectorConfiguration' || typeof apiVersion !== 'string' || !versions.includes(apiVersion))
    throw new Error(`it is not an EgressSelectorConfiguration of ${versions[0]}`)
  rejectUnknown(rest, '')
  if (!Array.isArray(egressSelections)) throw new Error('egressSelections: must be a list')
  const allowed = apiVersion === versions[0] ? egressNames : [...egressNames, 'master']
  const seen = new Set<string>()
  const found: { [Name in EgressName]?: ProxySettings } = {}
  for (const [i, selection] of (egressSelections as readonly unknown[]).entries()) {
    const { name, proxy } = readSelection(selection, `egressSelections[${i}]`, allowed)
    if (seen.has(name)) throw new Error(`egressSelections[${i}].name: ${JSON.stringify(name)} is given twice`)
    seen.add(name)
    if (proxy !== undefined) found[name] = proxy
  }
  return found
}

interface Selection {
  readonly name: EgressName
  readonly proxy: ProxySettings | undefined
}

function readSelection(selection: unknown, path: string, allowed: readonly string[]): Selection {
  if (!isRecord(selection)) throw new Error(`${path}: must be a mapping`)
  const { name: givenName, connection, ...rest } = selection
  rejectUnknown(rest, `${path}.`)
  const lower = typeof givenName === 'string' ? givenName.toLowerCase() : ''
  if (!allowed.includes(lower)) throw new Error(`${path}.name: ${JSON.stringify(givenName)} is unknown; choose from ${allowed.join(', ')}`)
  const name = (lower === 'master' ? 'controlplane' : lower) as EgressName
  if (!isRecord(connection)) throw new Error(`${path}.connection: must be a mapping`)
  const { proxyProtocol, transport, ...others } = connection
  const connectionPath = `${path}.connection`
  rejectUnknown(others, `${connectionPath}.`)
  if (proxyProtocol === 'GRPC') throw new Error(`${connectionPath}.proxyProtocol: GRPC is not supported; use HTTPConnect or Direct`)
  if (proxyProtocol === 'HTTPConnect') return { name, proxy: readTransport(transport, `${connectionPath}.transport`) }
  if (proxyProtocol !== 'Direct')
    throw new Error(`${connectionPath}.proxyProtocol: ${JSON.stringify(proxyProtocol)} is neither Direct nor HTTPConnect`)
  if (transport !== undefined && transport !== null) throw new Error(`${connectionPath}.transport: must be unset with Direct`)
  return { name, proxy: undefined }
}

function readTransport(transport: unknown, path: string): ProxySettings {
  if (!isRecord(transport)) throw new Error(`${path}: must be set for HTTPConnect`)
  const { tcp, uds, ...rest } = transport
  rejectUnknown(rest, `${path}.`)
  if (isRecord(tcp) === isRecord(uds)) throw new Error(`${path}: one of tcp and uds must be set`)
  return isRecord(uds) ? readUnix(uds, `${path}.uds`) : readTcp(tcp as Record<string, unknown>, `${path}.tcp`)
}

function readUnix({ udsName, ...rest }: Record<string, unknown>, path: string): ProxySettings {
  rejectUnknown(rest, `${path}.`)
  return { kind: 'unix', path: textOf(udsName, `${path}.udsName`) }
}

function readTcp({ url, tlsConfig, ...rest }: Record<string, unknown>, path: string): ProxySettings {
  rejectUnknown(rest, `${path}.`)
  const text = textOf(url, `${path}.url`)
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new Error(`${path}.url: ${JSON.stringify(text)} is not an http:// or https:// URL`)
  const { protocol, hostname, port } = new URL(text)
  const isSecure = protocol === 'https:'
  const address = { kind: 'tcp', host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (isSecure ? 443 : 80) } as const
  if (!isSecure) {
    if (isRecord(tlsConfig)) throw new Error(`${path}.tlsConfig: must be unset with http://`)
    return address
  }
  if (!isRecord(tlsConfig)) throw new Error(`${path}.tlsConfig: must be set with https://`)
  const { caBundle, clientCert, clientKey, ...others } = tlsConfig
  rejectUnknown(others, `${path}.tlsConfig.`)
  const caFile = caBundle === undefined || caBundle === '' ? undefined : textOf(caBundle, `${path}.tlsConfig.caBundle`)
  const certFile = textOf(clientCert, `${path}.tlsConfig.clientCert`)
  return { ...address, tls: { caFile, certFile, keyFile: textOf(clientKey, `${path}.tlsConfig.clientKey`) } }
}

function textOf(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') throw new Error(`${path}: must be set`)
  return value
}

function rejectUnknown(rest: object, path: string): void {
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new Error(`${path}${unknown}: unknown field`)
}
