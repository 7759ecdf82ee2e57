// Fixture: complete pod specs, and errors as short lines.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import type { FieldError } from '../../../api/field-error.js'
import { frozen, testContext } from '../../../api/rule-context.fixture.js'
import type { Container, PodSpec } from '../v1.schema.js'
import { withPodDefaults } from './pod-spec-defaults.js'
import { validatePodSpec } from './validate-pod-spec.js'

export const container = (more: Container = {}): Container => ({ name: 'c', image: 'i', ...more })

export const specOf = (more: PodSpec = {}): PodSpec => frozen(withPodDefaults(frozen({ containers: [container()], ...more })))

export const contextWith = (more: Partial<RuleContext> = {}): RuleContext => ({ ...testContext(), ...more })

export const specErrors = (more: PodSpec, context: RuleContext = testContext()): readonly FieldError[] =>
  validatePodSpec(specOf(more), 'spec', { ...context, podName: 'p' })

export type Row<Given> = readonly [given: Given, ...found: readonly string[]]
