// Examples of objects: the server accepts the first example of each built-in kind, under both identities.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, type DynamicObject, isClientError, StatusError } from 'cluster-apiserver/client'
import { everyKind, startEmbedded } from '../../../test/kit/embedded.js'
import { examplesOf } from '../src/create/examples.js'
import { writtenExamples } from '../src/create/written-examples.js'
import { KindSchema } from '../src/editor/kind-schema.js'
import type { Session } from '../src/session/session.js'

/** Kinds whose objects come from other programs, or need a value that only a program makes. */
const madeByPrograms: ReadonlySet<string> = new Set([
  'CertificateSigningRequest',
  'ControllerRevision',
  'Event',
  'StorageVersion',
  'VolumeAttachment',
])

for (const identity of ['cluster', 'kubernetes'] as const)
  test(`the server accepts the examples of ${identity}`, async () => {
    const embedded = await startEmbedded('memory', [`--identity=${identity}`, ...everyKind])
    const client = connect({ text: embedded.server.clientConfiguration })
    try {
      const session = { client } as unknown as Session
      const refused: string[] = []
      let written = 0
      for (const resource of await client.served.resources()) {
        if (!resource.verbs.includes('create') || !resource.verbs.includes('list') || madeByPrograms.has(resource.kind)) continue
        const schema = await KindSchema.load(session, resource, new AbortController().signal)
        const examples = examplesOf(resource, 'default', schema)
        written += examples.length - 1
        // Required fields alone are enough, or there are written examples because they are not.
        for (const { title, object } of examples.length === 1 ? examples : examples.slice(0, -1)) {
          try {
            await client.collection<DynamicObject>(resource).create(object, { dryRun: true, fieldValidation: 'Strict' })
          } catch (thrown) {
            if (!isClientError(thrown)) throw thrown
            refused.push(`${object.apiVersion} ${object.kind} ${title}: ${thrown instanceof StatusError ? thrown.message : String(thrown)}`)
          }
        }
      }
      assert.deepEqual(refused, [])
      assert.ok(written >= writtenExamples.length, `${written} of ${writtenExamples.length} written examples belong to a served kind`)
    } finally {
      client.close()
      await embedded.close()
    }
  })
