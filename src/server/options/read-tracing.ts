// The file of --tracing-config-file: where spans of requests are sent, and of how many requests.

import type { FeatureGates } from '../../api/definition.js'
import type { Identity } from '../../api/identity.js'
import { readYaml } from '../../codec/yaml/read-yaml.js'
import type { TracingSettings } from './settings.js'

const mostPerMillion = 1_000_000
const defaultEndpoint = 'localhost:4318'

/** Throws one sentence that names what is wrong. */
export function parseTracingConfig(text: string, identity: Identity, gates: FeatureGates): TracingSettings {
  if (!gates('APIServerTracing')) throw new Error('needs --feature-gates=APIServerTracing=true, too')
  const config: unknown = readYaml(text).value
  if (typeof config !== 'object' || config === null || Array.isArray(config)) throw new Error('the file: must be a mapping')
  const { kind, apiVersion, endpoint = defaultEndpoint, samplingRatePerMillion = 0, ...rest } = config as Record<string, unknown>
  const expected = `${identity.group({ stem: 'apiserver.config' })}/v1alpha1`
  if (kind !== 'TracingConfiguration' || apiVersion !== expected) throw new Error(`it is not a TracingConfiguration of ${expected}`)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new Error(`${unknown}: there is no such field`)
  if (typeof samplingRatePerMillion !== 'number' || !Number.isInteger(samplingRatePerMillion) || samplingRatePerMillion < 0)
    throw new Error('samplingRatePerMillion: must be a whole number from 0 on')
  if (samplingRatePerMillion > mostPerMillion) throw new Error('samplingRatePerMillion: must be one million at most')
  return { url: urlOf(endpoint), samplingRatePerMillion }
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined // it is told what is expected
  }
}

/** A host and a port, or a URL; without a path the one at which collectors take traces. */
function urlOf(endpoint: unknown): string {
  const text = typeof endpoint === 'string' ? endpoint : ''
  const url = parsed(text.includes('://') ? text : `http://${text}`)
  if (text === '' || url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Error(`endpoint: ${JSON.stringify(endpoint)} is not an address such as localhost:4318 or https://collector.example.com:4318`)
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url.href
}
