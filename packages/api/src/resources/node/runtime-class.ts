// Runtime classes: ways to run containers that nodes offer, with what they cost and on which nodes they are to be had.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { duplicate, type FieldError } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkEach, checkPart, joined } from '../../api/validation/collect.js'
import { checkText, checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { validateLabels } from '../../api/validation/labels.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { dnsLabel } from '../../api/validation/text-rules.js'
import { oldNodeLabels, told } from '../core/old-node-labels.js'
import { validateRequirements } from '../core/pod-spec/resource-requirements.js'
import { validateTolerations } from '../core/pod-spec/tolerations.js'
import type { Toleration } from '../core/v1.schema.js'
import { type RuntimeClass, type Scheduling, runtimeClass as schema } from './v1.schema.js'

const validate = ({ handler = '', overhead, scheduling }: RuntimeClass, rules: RuleContext): readonly FieldError[] =>
  joined(
    checkText(handler, 'handler', dnsLabel),
    checkPart(overhead?.podFixed, 'overhead', (limits, at) => validateRequirements({ limits }, at, { rules, claims: [] })),
    checkPart(scheduling, 'scheduling', validateScheduling),
  )

function validateScheduling({ nodeSelector, tolerations = [] }: Scheduling, field: string): readonly FieldError[] {
  const seen = new Set<string>()
  return joined(
    validateLabels(nodeSelector, `${field}.nodeSelector`),
    // Named twice, as clients know it.
    validateTolerations(tolerations, `${field}.tolerations.tolerations`),
    checkEach(tolerations, `${field}.tolerations`, (toleration, at) => {
      const taint = taintOf(toleration)
      const isSecond = seen.has(taint)
      seen.add(taint)
      return isSecond ? [duplicate(at, toleration)] : noErrors
    }),
  )
}

/** What is tolerated, by which tolerations are told apart; for how long does not count. */
const taintOf = ({ key = '', operator = '', value = '', effect = '' }: Toleration): string => JSON.stringify([key, operator, value, effect])

export const runtimeClass = defineResource<RuntimeClass>({
  group: { stem: 'node' },
  kind: 'RuntimeClass',
  resource: 'runtimeclasses',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate,
  validateUpdate: (next, old) => checkUnchanged(next.handler, old.handler, 'handler'),
  anyFinalizer: true,
  checks: { update: ['metadata', 'own', 'metadataChange', 'ownChange'] },
  warnings: ({ scheduling }, _, { identity }) =>
    Object.keys(scheduling?.nodeSelector ?? {}).flatMap((key) =>
      told(oldNodeLabels(identity).get(key), (message) => `scheduling.nodeSelector: ${message}`),
    ),
  createOnUpdate: true,
  versionRequiredOnUpdate: true,
  table: {
    columns: [nameColumn, textColumn('Handler', 'What the nodes call it.'), ageColumn],
    cells: ({ metadata, handler }, { now }) => [metadata?.name ?? '', handler ?? '', ageOf(metadata?.creationTimestamp, now)],
  },
})
