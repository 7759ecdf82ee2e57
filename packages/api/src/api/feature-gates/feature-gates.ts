// Features that an operator switches by name: which exist, how far each has come, and what a command line makes of them.

import type { FeatureGates } from './definition.js'
import { gatesByStage } from './feature-gate-table.js'

export type GateStage = 'alpha' | 'beta' | 'stable'

export interface FeatureGate {
  readonly name: string
  readonly stage: GateStage
  readonly default: boolean
  /** A stable feature that can no longer be switched off. */
  readonly isLocked: boolean
}

/** `AllAlpha` and `AllBeta` switch every gate of a stage that is not named itself. */
const wholeStages: { readonly [name: string]: GateStage } = { AllAlpha: 'alpha', AllBeta: 'beta' }

/** Alpha starts off, beta and stable start on; the table lists the exceptions apart. */
export const featureGates: ReadonlyMap<string, FeatureGate> = new Map(
  [
    ...gatesByStage.alpha.map((name) => ({ name, stage: 'alpha' as const, default: false, isLocked: false })),
    ...gatesByStage.beta.map((name) => ({ name, stage: 'beta' as const, default: true, isLocked: false })),
    ...gatesByStage.betaOff.map((name) => ({ name, stage: 'beta' as const, default: false, isLocked: false })),
    ...gatesByStage.stable.map((name) => ({ name, stage: 'stable' as const, default: true, isLocked: false })),
    ...gatesByStage.locked.map((name) => ({ name, stage: 'stable' as const, default: true, isLocked: true })),
  ].map((gate) => [gate.name, gate]),
)

const truths = new Set(['1', 't', 'T', 'true', 'True', 'TRUE'])
const falsehoods = new Set(['0', 'f', 'F', 'false', 'False', 'FALSE'])

function readSetting(text: string): { readonly name: string; readonly isOn: boolean } {
  const at = text.indexOf('=')
  const name = (at < 0 ? text : text.slice(0, at)).trim()
  if (name === '') throw new Error(`${JSON.stringify(text)} names no feature gate`)
  if (!featureGates.has(name) && wholeStages[name] === undefined) throw new Error(`unrecognized feature gate: ${name}`)
  if (at < 0) throw new Error(`missing bool value for ${name}: write ${name}=true or ${name}=false`)
  const value = text.slice(at + 1).trim()
  if (!truths.has(value) && !falsehoods.has(value)) throw new Error(`${name}=${value}: ${JSON.stringify(value)} is neither true nor false`)
  return { name, isOn: truths.has(value) }
}

/** From texts such as `OpenAPIV3=false`; the last word on a gate counts. Throws an Error with one sentence. */
export function parseFeatureGates(settings: readonly string[]): FeatureGates {
  const named = new Map<string, boolean>()
  for (const { name, isOn } of settings.map(readSetting)) {
    const gate = featureGates.get(name)
    if (gate?.isLocked && isOn !== gate.default) {
      throw new Error(`cannot set feature gate ${name} to ${isOn}, feature is locked to ${gate.default}`)
    }
    named.set(name, isOn)
  }
  const enabled = new Set<string>()
  for (const gate of featureGates.values()) if (named.get(gate.name) ?? stageSetting(gate, named) ?? gate.default) enabled.add(gate.name)
  return (name) => enabled.has(name)
}

function stageSetting(gate: FeatureGate, named: ReadonlyMap<string, boolean>): boolean | undefined {
  for (const [name, stage] of Object.entries(wholeStages)) if (stage === gate.stage) return named.get(name)
  return undefined
}

export const defaultFeatureGates: FeatureGates = parseFeatureGates([])
