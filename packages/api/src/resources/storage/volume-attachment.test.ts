// Attachments: one volume and a node, reports within bounds, and a wish that never changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import type { VolumeAttachment, VolumeAttachmentSpec, VolumeAttachmentStatus } from './v1.schema.js'
import { volumeAttachment } from './volume-attachment.js'

const context = usualContext()
const metadata = { name: 'a', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const wish: VolumeAttachmentSpec = { attacher: 'd.example', nodeName: 'n', source: { persistentVolumeName: 'v' } }
const make = (
  spec: VolumeAttachmentSpec = {},
  status: VolumeAttachmentStatus = { attached: false },
  labels?: { [key: string]: string },
): VolumeAttachment => frozen({ metadata: labels === undefined ? metadata : { ...metadata, labels }, spec: { ...wish, ...spec }, status })
const csi = { driver: 'd.example', volumeHandle: 'h' }
const inline = { accessModes: ['ReadWriteOnce'], csi }
const oneSource = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

const rows: readonly { readonly title: string; readonly object: VolumeAttachment; readonly found: readonly string[] }[] = [
  { title: 'a volume', object: make(), found: [] },
  { title: 'a volume inside', object: make({ source: { inlineVolumeSpec: inline } }), found: [] },
  {
    title: 'nothing',
    object: make({ attacher: '', nodeName: '', source: {} }),
    found: [
      'spec.attacher: Required value',
      `spec.source: Required value: ${oneSource}`,
      'spec.nodeName: Invalid value: ""',
      'spec.attacher: Required value',
      'spec.attacher: Invalid value: ""',
    ],
  },
  {
    title: 'both',
    object: make({ source: { persistentVolumeName: 'v', inlineVolumeSpec: inline } }),
    found: [`spec.source: Forbidden: ${oneSource}`],
  },
  {
    title: 'a volume without a name',
    object: make({ source: { persistentVolumeName: '' } }),
    found: [
      'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
      'spec.source.persistentVolumeName: Invalid value: ""',
    ],
  },
  {
    title: 'a volume inside that is wrong',
    object: make({ source: { inlineVolumeSpec: { csi } } }),
    found: ['spec.source.inlineVolumeSpec.accessModes: Required value'],
  },
]
for (const { title, object, found } of rows)
  test(`attach ${title}`, () => expectErrors(validateCreation(volumeAttachment, object, context), found))

test('the wish never changes', () => {
  expectErrors(validateChange(volumeAttachment, { next: make({ nodeName: 'm' }), old: make() }, context), [
    'spec: Invalid value: {"attacher":"d.example","nodeName":"m"',
  ])
  expectErrors(validateChange(volumeAttachment, { next: make({}, { attached: true }), old: make() }, context), [])
})

test('an old attachment need not satisfy what is asked of new ones', () => {
  const old = make({ attacher: 'a_b' })
  assert.equal(validateCreation(volumeAttachment, old, context).length, 1)
  expectErrors(validateChange(volumeAttachment, { next: old, old }, context), [])
})

const [door] = volumeAttachment.subresources ?? []

test('whoever reports changes nothing else, and reports within bounds', () => {
  assert.ok(door !== undefined)
  const status = {
    attached: true,
    attachmentMetadata: { '': 'x' },
    attachError: { message: 'x'.repeat(1025) },
    detachError: { message: 'x'.repeat(1024) },
  }
  const old = make({}, { attached: false }, { a: 'b' })
  const next = door.prepareUpdate(make({ nodeName: 'm' }, status, { c: 'd' }), old, context)
  assert.deepEqual(next, make({}, status, { a: 'b' }))
  expectErrors(validateChange(volumeAttachment, { next, old, subresource: door }, context), [
    'status.attachError.message: Too long: must have at most 262144 bytes',
  ])
})

test('a new attachment is not attached, and what is inside is completed', () => {
  const sent = make(
    { source: { inlineVolumeSpec: { ...inline, csi: { ...csi, nodeExpandSecretRef: { name: 's' } } } } },
    { attached: true },
  )
  assert.deepEqual(volumeAttachment.prepareCreate?.(sent, context), make({ source: { inlineVolumeSpec: inline } }))
  const completed = volumeAttachment.defaults?.(make({ source: { inlineVolumeSpec: { hostPath: { path: '/' } } } }), context)
  assert.deepEqual(completed, make({ source: { inlineVolumeSpec: { hostPath: { path: '/', type: '' } } } }))
})

test('a row of the table', () =>
  assert.deepEqual(volumeAttachment.table?.cells(make(), context), ['a', 'd.example', 'v', 'n', false, '60m']))
