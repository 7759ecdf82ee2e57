// Rules of a pod failure policy: exit codes, conditions, the first match decides.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodFailurePolicyRule } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type FailureVerdict, judgeFailedPod } from './pod-failure-policy.js'

const terminated = (name: string, exitCode: number) => ({ name, state: { terminated: { exitCode } } })
const pod = {
  metadata: { namespace: 'n', name: 'p' },
  status: {
    phase: 'Failed',
    conditions: [{ type: 'DisruptionTarget', status: 'True' }],
    containerStatuses: [terminated('done', 0), terminated('main', 42), { name: 'other', state: { running: {} } }],
    initContainerStatuses: [terminated('init', 3)],
  },
} as unknown as Pod

const codes = (action: string, operator: string, values: readonly number[], containerName?: string) =>
  ({ action, onExitCodes: { operator, values, ...(containerName === undefined ? {} : { containerName }) } }) as PodFailurePolicyRule
const condition = (action: string, type: string, status: string) =>
  ({ action, onPodConditions: [{ type, status }] }) as unknown as PodFailurePolicyRule

const counted: FailureVerdict = { isCounted: true }
const ignored: FailureVerdict = { isCounted: false }
const failed = (failJobMessage: string): FailureVerdict => ({ isCounted: true, failJobMessage })

const rows: readonly (readonly [title: string, rules: readonly PodFailurePolicyRule[], verdict: FailureVerdict])[] = [
  ['no rule matches', [codes('FailJob', 'In', [1])], counted],
  [
    'an exit code',
    [codes('FailJob', 'In', [41, 42])],
    failed('Container main for pod n/p failed with exit code 42 matching FailJob rule at index 0'),
  ],
  [
    'an exit code of an init container',
    [codes('Ignore', 'In', [1]), codes('FailJob', 'In', [3])],
    failed('Container init for pod n/p failed with exit code 3 matching FailJob rule at index 1'),
  ],
  ['another container', [codes('FailJob', 'In', [42], 'init')], counted],
  [
    'NotIn, which successful containers never match',
    [codes('FailJob', 'NotIn', [42])],
    failed('Container init for pod n/p failed with exit code 3 matching FailJob rule at index 0'),
  ],
  ['NotIn with all codes', [codes('FailJob', 'NotIn', [3, 42])], counted],
  ['the first rule decides', [codes('Ignore', 'In', [42]), codes('FailJob', 'In', [42])], ignored],
  ['Count ends the search', [codes('Count', 'In', [42]), codes('FailJob', 'In', [42])], counted],
  ['a condition', [condition('Ignore', 'DisruptionTarget', 'True')], ignored],
  ['a condition with another status', [condition('Ignore', 'DisruptionTarget', 'False')], counted],
  [
    'a condition that fails the Job',
    [condition('FailJob', 'DisruptionTarget', 'True')],
    failed('Pod n/p has condition DisruptionTarget matching FailJob rule at index 0'),
  ],
]
for (const [title, rules, verdict] of rows)
  test(`pod failure policy: ${title}`, () => assert.deepEqual(judgeFailedPod({ rules: [...rules] }, pod), verdict))

test('without a policy every failure counts', () => assert.deepEqual(judgeFailedPod(undefined, pod), counted))
