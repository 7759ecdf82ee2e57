// The configuration of ImagePolicyWebhook: whom to ask about images, and for how long an answer counts.

import { dirname, resolve } from 'node:path'
import type { ConfigContext } from './admission-config.js'
import { booleanOf, integerOf, mappingOf, onlyFields, requiredText } from './fields.js'

export interface ImagePolicySettings {
  readonly kubeConfigFile: string
  /** How long an approval counts; 0: it is asked for each time. */
  readonly allowTtlMs: number
  readonly denyTtlMs: number
  readonly retryBackoffMs: number
  /** What is done where nobody answers. */
  readonly defaultAllow: boolean
}

const second = 1000
const times = {
  allowTTL: { usual: 300, most: 1800, unit: second },
  denyTTL: { usual: 30, most: 1800, unit: second },
  retryBackoff: { usual: 500, most: 300_000, unit: 1 },
} as const

export function parseImagePolicy(value: unknown, { where, file }: ConfigContext): ImagePolicySettings {
  const outer = mappingOf(value, where)
  onlyFields(outer, ['imagePolicy'], where)
  const place = where === '' ? 'imagePolicy' : `${where}.imagePolicy`
  const fields = mappingOf(outer['imagePolicy'], place)
  onlyFields(fields, ['kubeConfigFile', 'allowTTL', 'denyTTL', 'retryBackoff', 'defaultAllow'], place)
  const timeOf = (name: keyof typeof times): number => {
    const { usual, most, unit } = times[name]
    const number = integerOf(fields, name, place) ?? 0
    // The reference's words for it: nothing means the usual time, and -1 none at all.
    if (number === 0) return usual * unit
    if (number === -1) return 0
    if (number < 1 || number > most) throw new Error(`${place}.${name}: must be between 1 and ${most}, 0 for ${usual}, or -1 for none`)
    return number * unit
  }
  return {
    kubeConfigFile: resolve(dirname(file), requiredText(fields, 'kubeConfigFile', place)),
    allowTtlMs: timeOf('allowTTL'),
    denyTtlMs: timeOf('denyTTL'),
    retryBackoffMs: timeOf('retryBackoff'),
    defaultAllow: booleanOf(fields, 'defaultAllow', place),
  }
}
