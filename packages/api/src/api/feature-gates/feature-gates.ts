// Feature gates: stages and defaults, and the parser of --feature-gates.

import type { FeatureGates } from '../definition/resource-definition.js'
import { gatesByStage, gatesWithEffect } from './feature-gate-table.js'

type GateStage = 'alpha' | 'beta' | 'stable'

interface FeatureGate {
  readonly name: string
  readonly stage: GateStage
  readonly default: boolean
  readonly isLocked: boolean
}

/** `AllAlpha` and `AllBeta` set every gate of a stage that is not named explicitly. */
const wholeStages: { readonly [name: string]: GateStage } = { AllAlpha: 'alpha', AllBeta: 'beta' }

/** Gates of `alpha` and `betaOff` default to off, all other gates to on. Gates of `locked` can only be set to on. */
export const featureGates: ReadonlyMap<string, FeatureGate> = new Map(
  [
    ...gatesByStage.alpha.map((name) => ({ name, stage: 'alpha' as const, default: false, isLocked: false })),
    ...gatesByStage.beta.map((name) => ({ name, stage: 'beta' as const, default: true, isLocked: false })),
    ...gatesByStage.betaOff.map((name) => ({ name, stage: 'beta' as const, default: false, isLocked: false })),
    ...gatesByStage.stable.map((name) => ({ name, stage: 'stable' as const, default: true, isLocked: false })),
    ...gatesByStage.locked.map((name) => ({ name, stage: 'stable' as const, default: true, isLocked: true })),
  ].map((gate) => [gate.name, gate]),
)

const trueTexts = new Set(['1', 't', 'T', 'true', 'True', 'TRUE'])
const falseTexts = new Set(['0', 'f', 'F', 'false', 'False', 'FALSE'])

interface GateSetting {
  readonly name: string
  readonly isOn: boolean
}

function readSetting(text: string): GateSetting {
  const at = text.indexOf('=')
  const name = (at < 0 ? text : text.slice(0, at)).trim()
  if (name === '') throw new Error(`${JSON.stringify(text)} names no feature gate`)
  if (!featureGates.has(name) && wholeStages[name] === undefined) throw new Error(`unrecognized feature gate: ${name}`)
  if (at < 0) throw new Error(`missing bool value for ${name}: write ${name}=true or ${name}=false`)
  const value = text.slice(at + 1).trim()
  if (!trueTexts.has(value) && !falseTexts.has(value))
    throw new Error(`${name}=${value}: ${JSON.stringify(value)} is neither true nor false`)
  return { name, isOn: trueTexts.has(value) }
}

/** Parses settings such as `OpenAPIV3=false`; the last one wins. Throws an Error with one sentence. */
export function parseFeatureGates(settings: readonly string[]): FeatureGates {
  const explicit = new Map<string, boolean>()
  for (const { name, isOn } of settings.map(readSetting)) {
    const gate = featureGates.get(name)
    if (gate?.isLocked && isOn !== gate.default) {
      throw new Error(`cannot set feature gate ${name} to ${isOn}, feature is locked to ${gate.default}`)
    }
    explicit.set(name, isOn)
  }
  const enabled = new Set<string>()
  for (const gate of featureGates.values())
    if (explicit.get(gate.name) ?? stageSetting(gate, explicit) ?? gate.default) enabled.add(gate.name)
  return enabled.has.bind(enabled)
}

/** Settings that differ from the default and that this server does not use, such as `KMSv2=true`. */
export function ineffectiveGates(settings: readonly string[]): readonly string[] {
  const isIneffective = ({ name, isOn }: GateSetting): boolean => {
    const gate = featureGates.get(name)
    return gate !== undefined && gate.default !== isOn && !gatesWithEffect.has(name)
  }
  return settings
    .map(readSetting)
    .filter(isIneffective)
    .map(({ name, isOn }) => `${name}=${isOn}`)
}

function stageSetting(gate: FeatureGate, explicit: ReadonlyMap<string, boolean>): boolean | undefined {
  for (const [name, stage] of Object.entries(wholeStages)) if (stage === gate.stage) return explicit.get(name)
  return undefined
}

export const defaultFeatureGates: FeatureGates = parseFeatureGates([])
