// The file of --egress-selector-config-file. This server reaches everybody directly: a file that says so is taken, and one that wants a proxy is
// refused, so that nothing goes another way than it says.

import type { Identity } from '../../api/identity.js'
import { readYaml } from '../../codec/yaml/read-yaml.js'
import { isRecord } from '../../schema/read.js'

/** `master` is the older name of the first, and of the older version alone. */
const names = ['controlplane', 'etcd', 'cluster']

/** Throws one sentence that names what is wrong, or what cannot be done. */
export function checkEgressConfig(text: string, identity: Identity): void {
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
  for (const [i, selection] of (egressSelections as readonly unknown[]).entries()) {
    const name = checkSelection(selection, `egressSelections[${i}]`, allowed)
    if (seen.has(name)) throw new Error(`egressSelections[${i}].name: ${JSON.stringify(name)} is there twice`)
    seen.add(name)
  }
}

function checkSelection(selection: unknown, path: string, allowed: readonly string[]): string {
  if (!isRecord(selection)) throw new Error(`${path}: must be a mapping`)
  const { name, connection, ...rest } = selection
  refuseOthers(rest, `${path}.`)
  if (typeof name !== 'string' || !allowed.includes(name))
    throw new Error(`${path}.name: ${JSON.stringify(name)} is none of ${allowed.join(', ')}`)
  if (!isRecord(connection)) throw new Error(`${path}.connection: must be a mapping`)
  const { proxyProtocol, transport, ...others } = connection
  refuseOthers(others, `${path}.connection.`)
  if (proxyProtocol === 'HTTPConnect' || proxyProtocol === 'GRPC')
    throw new Error(`${path}.connection.proxyProtocol: ${proxyProtocol} is not supported, this server reaches others directly; use Direct`)
  if (proxyProtocol !== 'Direct') throw new Error(`${path}.connection.proxyProtocol: ${JSON.stringify(proxyProtocol)} is not Direct`)
  if (transport !== undefined && transport !== null) throw new Error(`${path}.connection.transport: must be left out with Direct`)
  return name
}

function refuseOthers(rest: object, path: string): void {
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new Error(`${path}${unknown}: there is no such field`)
}
