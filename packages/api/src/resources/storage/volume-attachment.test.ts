// Tests of VolumeAttachments: source, immutable spec, status.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import type { VolumeAttachment, VolumeAttachmentSpec, VolumeAttachmentStatus } from './v1.schema.js'
import { volumeAttachment } from './volume-attachment.js'

const context = usualContext()
const metadata = { name: 'a', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const validSpec: VolumeAttachmentSpec = { attacher: 'd.example', nodeName: 'n', source: { persistentVolumeName: 'v' } }
const make = (
  spec: VolumeAttachmentSpec = {},
  status: VolumeAttachmentStatus = { attached: false },
  labels?: { [key: string]: string },
): VolumeAttachment =>
  frozen({ metadata: labels === undefined ? metadata : { ...metadata, labels }, spec: { ...validSpec, ...spec }, status })
const csi = { driver: 'd.example', volumeHandle: 'h' }
const inline = { accessModes: ['ReadWriteOnce'], csi }
const oneSource = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

const rows: readonly (readonly [object: VolumeAttachment, ...expected: readonly string[]])[] = [
  [make()],
  [make({ source: { inlineVolumeSpec: inline } })],
  [
    make({ attacher: '', nodeName: '', source: {} }),
    'spec.attacher: Required value',
    `spec.source: Required value: ${oneSource}`,
    'spec.nodeName: Invalid value: ""',
    'spec.attacher: Required value',
    'spec.attacher: Invalid value: ""',
  ],
  [make({ source: { persistentVolumeName: 'v', inlineVolumeSpec: inline } }), `spec.source: Forbidden: ${oneSource}`],
  [
    make({ source: { persistentVolumeName: '' } }),
    'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
    'spec.source.persistentVolumeName: Invalid value: ""',
  ],
  [make({ source: { inlineVolumeSpec: { csi } } }), 'spec.source.inlineVolumeSpec.accessModes: Required value'],
]
for (const [object, ...expected] of rows)
  test(`attach: ${rowTitle(object, expected)}`, () => expectErrors(validateCreation(volumeAttachment, object, context), expected))

test('the spec is immutable', () => {
  expectErrors(validateChange(volumeAttachment, { next: make({ nodeName: 'm' }), old: make() }, context), [
    'spec: Invalid value: {"attacher":"d.example","nodeName":"m"',
  ])
  expectErrors(validateChange(volumeAttachment, { next: make({}, { attached: true }), old: make() }, context), [])
})

test('an old attachment need not satisfy the rules of new ones', () => {
  const old = make({ attacher: 'a_b' })
  assert.equal(validateCreation(volumeAttachment, old, context).length, 1)
  expectErrors(validateChange(volumeAttachment, { next: old, old }, context), [])
})

const [statusSubresource] = volumeAttachment.subresources ?? []

test('a status update changes nothing else, and messages are limited', () => {
  assert.ok(statusSubresource !== undefined)
  const status = {
    attached: true,
    attachmentMetadata: { '': 'x' },
    attachError: { message: 'x'.repeat(1025) },
    detachError: { message: 'x'.repeat(1024) },
  }
  const old = make({}, { attached: false }, { a: 'b' })
  const next = statusSubresource.prepareUpdate(make({ nodeName: 'm' }, status, { c: 'd' }), old, context)
  assert.deepEqual(next, make({}, status, { a: 'b' }))
  expectErrors(validateChange(volumeAttachment, { next, old, subresource: statusSubresource }, context), [
    'status.attachError.message: Too long: must have at most 262144 bytes',
  ])
})

test('a new attachment is not attached, and inline volumes get defaults', () => {
  const sent = make(
    { source: { inlineVolumeSpec: { ...inline, csi: { ...csi, nodeExpandSecretRef: { name: 's' } } } } },
    { attached: true },
  )
  assert.deepEqual(volumeAttachment.prepareCreate?.(sent, context), make({ source: { inlineVolumeSpec: inline } }))
  const completed = volumeAttachment.defaults?.(make({ source: { inlineVolumeSpec: { hostPath: { path: '/' } } } }), context)
  assert.deepEqual(completed, make({ source: { inlineVolumeSpec: { hostPath: { path: '/', type: '' } } } }))
})

test('printer columns', () => assert.deepEqual(volumeAttachment.table?.cells(make(), context), ['a', 'd.example', 'v', 'n', false, '60m']))
