// Settings of simulated nodes. Templates and rules are parsed by controllers/workloads/simulated-nodes, which is loaded only for them.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { flagError } from './flags/flag.js'
import { prefixErrors, type SettingsInput } from './settings-input.js'

export interface SimulationSettings {
  /** Number of nodes without a template. */
  readonly nodes: number
  readonly templates?: ConfigValue
  readonly rules?: ConfigValue
}

/** Contents of a configuration file, and the prefix of errors in it. */
export interface ConfigValue {
  readonly origin: string
  readonly value: unknown
}

/** Undefined if there are no simulated nodes. */
export function readSimulation(input: SettingsInput, identity: Identity): SimulationSettings | undefined {
  const { values, given } = input
  if (!given.has('simulate-nodes') && !given.has('node-templates')) {
    if (given.has('simulation-rules')) throw flagError('simulation-rules', 'needs --simulate-nodes or --node-templates')
    return undefined
  }
  const templates = readConfig(input, identity, { flag: 'node-templates', kind: 'NodeTemplates' })
  const rules = readConfig(input, identity, { flag: 'simulation-rules', kind: 'SimulationRules' })
  return {
    nodes: values['simulate-nodes'] ?? 0,
    ...(templates === undefined ? {} : { templates }),
    ...(rules === undefined ? {} : { rules }),
  }
}

interface ConfigFile {
  readonly flag: 'node-templates' | 'simulation-rules'
  readonly kind: string
}

function readConfig({ values, files }: SettingsInput, identity: Identity, { flag, kind }: ConfigFile): ConfigValue | undefined {
  const path = values[flag]
  if (path === undefined) return undefined
  return prefixErrors(flag, () => {
    const value = readYaml(files.get(path) ?? '').value as { readonly kind?: unknown; readonly apiVersion?: unknown }
    const expected = `${identity.group({ stem: 'simulation' })}/v1alpha1`
    if (value.kind !== kind || value.apiVersion !== expected) throw new Error(`${path}: it is not a ${kind} of ${expected}`)
    return { origin: `--${flag}: ${path}`, value }
  })
}
