// The build keeps what the modules make: a server that was built begins with the objects that it would make itself.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { identityNames, identityOf } from '../api/identity.js'
import { prepareObjects } from './prepare-objects.js'
import { preparedObjects } from './prepared-objects.js'

const withoutUids = (bytes: Buffer): string =>
  bytes.toString('utf8').replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')

for (const name of identityNames) {
  test(`the file of the build is what is made now, as ${name}`, async () => {
    const kept = readFileSync(new URL(`../bundle/start-objects-${name}.bin`, import.meta.url))
    assert.equal(withoutUids(kept), withoutUids(await prepareObjects(name)))
    assert.match(withoutUids(kept), /"uid":"<uid>"/)
    assert.equal(preparedObjects({ identity: identityOf(name), controllers: [] }), undefined, 'there is none beside the modules')
  })
}
