// What tests of pods share: complete specs from a few words, and findings as short lines.

import assert from 'node:assert/strict'
import type { RuleContext } from '../../../api/definition.js'
import type { FieldError } from '../../../api/field-error.js'
import { frozen, lines, testContext } from '../../../api/rule-context.fixture.js'
import type { Container, PodSpec } from '../v1.schema.js'
import { withPodDefaults } from './pod-spec-defaults.js'
import { validatePodSpec } from './validate-pod-spec.js'

export const container = (more: Container = {}): Container => ({ name: 'c', image: 'i', ...more })

/** A spec with one container and everything filled in. */
export const specOf = (more: PodSpec = {}): PodSpec => frozen(withPodDefaults(frozen({ containers: [container()], ...more })))

export const contextWith = (more: Partial<RuleContext> = {}): RuleContext => ({ ...testContext(), ...more })

export const specErrors = (more: PodSpec, context: RuleContext = testContext()): readonly FieldError[] =>
  validatePodSpec(specOf(more), 'spec', { ...context, podName: 'p' })

export interface Row<Given> {
  readonly title: string
  readonly given: Given
  /** How each finding begins, in order. */
  readonly found: readonly string[]
}

/** As many findings as lines, each beginning as its line does. */
export function assertFound(errors: readonly FieldError[], found: readonly string[]): void {
  const told = lines(errors)
  assert.deepEqual(
    told.map((line, i) => (found[i] === undefined ? line : line.slice(0, found[i].length))),
    found,
  )
}
