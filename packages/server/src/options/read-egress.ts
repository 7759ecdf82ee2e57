// The file of --egress-selector-config-file: which way the server reaches what. Proxies that are asked with CONNECT are used; those that speak GRPC are
// refused, so that nothing goes another way than it says.

import type { Identity } from '../../api/identity.js'
import { readYaml } from '../../codec/yaml/read-yaml.js'
import { isRecord } from '../../schema/read.js'

export type EgressName = 'controlplane' | 'etcd' | 'cluster'

/** Where a proxy is. */
export type ProxySettings =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls?: ProxyFiles | undefined }

export interface ProxyFiles {
  /** Left out: the authorities of this machine. */
  readonly caFile: string | undefined
  readonly certFile: string
  readonly keyFile: string
}

/** What is not there is reached directly. */
export type EgressSettings = { readonly [Name in EgressName]?: ProxySettings }

/** `master` is the older name of the first, and of the older version alone. */
const names: readonly string[] = ['controlplane', 'etcd', 'cluster'] satisfies readonly EgressName[]

/** Throws one sentence that names what is wrong, or what cannot be done. */
export function parseEgressConfig(text: string, identity: Identity): EgressSettings {
  const config: unknown = readYaml(text).value
  if (!isRecord(config)) throw new Error('the file: must be a mapping')
  const { kind, apiVersion, egressSelections = [], ...rest } = config
  const group = identity.group({ stem: 'apiserver' })
  const versions = [`${group}/v1beta1`, `${group}/v1alpha1`]
  if (kind !== 'EgressSelectorConfiguration' || typeof apiVersion !== 'string' || !versions.includes(apiVersion))
    throw new Error(`it is not an EgressSelectorConfiguration of ${versions[0]}`)
  refuseOthers(rest, '')
  if (!Array.isArray(egressSelections)) throw new Error('egressSelections: must be a list')
  const allowed = apiVersion === versions[0] ? names : [...names, 'master']
  const seen = new Set<string>()
  const found: { [Name in EgressName]?: ProxySettings } = {}
  for (const [i, selection] of (egressSelections as readonly unknown[]).entries()) {
    const { name, proxy } = readSelection(selection, `egressSelections[${i}]`, allowed)
    if (seen.has(name)) throw new Error(`egressSelections[${i}].name: ${JSON.stringify(name)} is there twice`)
    seen.add(name)
    if (proxy !== undefined) found[name] = proxy
  }
  return found
}

interface Selection {
  readonly name: EgressName
  /** Undefined: directly. */
  readonly proxy: ProxySettings | undefined
}

function readSelection(selection: unknown, path: string, allowed: readonly string[]): Selection {
  if (!isRecord(selection)) throw new Error(`${path}: must be a mapping`)
  const { name: written, connection, ...rest } = selection
  refuseOthers(rest, `${path}.`)
  const lower = typeof written === 'string' ? written.toLowerCase() : ''
  if (!allowed.includes(lower)) throw new Error(`${path}.name: ${JSON.stringify(written)} is none of ${allowed.join(', ')}`)
  const name = (lower === 'master' ? 'controlplane' : lower) as EgressName
  if (!isRecord(connection)) throw new Error(`${path}.connection: must be a mapping`)
  const { proxyProtocol, transport, ...others } = connection
  const at = `${path}.connection`
  refuseOthers(others, `${at}.`)
  if (proxyProtocol === 'GRPC')
    throw new Error(
      `${at}.proxyProtocol: GRPC is not supported, as it takes a library that this server does without; use HTTPConnect or Direct`,
    )
  if (proxyProtocol === 'HTTPConnect') return { name, proxy: readTransport(transport, `${at}.transport`) }
  if (proxyProtocol !== 'Direct') throw new Error(`${at}.proxyProtocol: ${JSON.stringify(proxyProtocol)} is neither Direct nor HTTPConnect`)
  if (transport !== undefined && transport !== null) throw new Error(`${at}.transport: must be left out with Direct`)
  return { name, proxy: undefined }
}

function readTransport(transport: unknown, path: string): ProxySettings {
  if (!isRecord(transport)) throw new Error(`${path}: must be set for HTTPConnect`)
  const { tcp, uds, ...rest } = transport
  refuseOthers(rest, `${path}.`)
  if (isRecord(tcp) === isRecord(uds)) throw new Error(`${path}: one of tcp and uds must be set`)
  return isRecord(uds) ? readUnix(uds, `${path}.uds`) : readTcp(tcp as Record<string, unknown>, `${path}.tcp`)
}

function readUnix({ udsName, ...rest }: Record<string, unknown>, path: string): ProxySettings {
  refuseOthers(rest, `${path}.`)
  return { kind: 'unix', path: textOf(udsName, `${path}.udsName`) }
}

function readTcp({ url, tlsConfig, ...rest }: Record<string, unknown>, path: string): ProxySettings {
  refuseOthers(rest, `${path}.`)
  const text = textOf(url, `${path}.url`)
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new Error(`${path}.url: ${JSON.stringify(text)} is no address that begins with http:// or https://`)
  const { protocol, hostname, port } = new URL(text)
  const isSecure = protocol === 'https:'
  const place = { kind: 'tcp', host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (isSecure ? 443 : 80) } as const
  if (!isSecure) {
    if (isRecord(tlsConfig)) throw new Error(`${path}.tlsConfig: must be left out with http://`)
    return place
  }
  if (!isRecord(tlsConfig)) throw new Error(`${path}.tlsConfig: must be set with https://`)
  const { caBundle, clientCert, clientKey, ...others } = tlsConfig
  refuseOthers(others, `${path}.tlsConfig.`)
  const caFile = caBundle === undefined || caBundle === '' ? undefined : textOf(caBundle, `${path}.tlsConfig.caBundle`)
  const certFile = textOf(clientCert, `${path}.tlsConfig.clientCert`)
  return { ...place, tls: { caFile, certFile, keyFile: textOf(clientKey, `${path}.tlsConfig.clientKey`) } }
}

function textOf(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') throw new Error(`${path}: must be set`)
  return value
}

function refuseOthers(rest: object, path: string): void {
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new Error(`${path}${unknown}: there is no such field`)
}
