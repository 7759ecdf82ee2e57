// Over HTTP/2 somebody who is refused before the body was read gets the whole answer, and then the stream ends.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { Http2Client } from '../kit/http2-client.js'

describe('bodies that nobody reads', () => {
  let running: Embedded
  let client: Http2Client
  before(async () => {
    running = await startEmbedded('memory')
    client = new Http2Client({ url: running.server.url, ca: running.server.caPem, token: 'of nobody' })
  })
  after(async () => {
    client.close()
    await running.close()
  })

  test('do not spoil the answer', async () => {
    for (let i = 0; i < 20; i++) {
      const stream = client.open('POST', '/api/v1/namespaces/default/configmaps', false)
      let text = ''
      let isAborted = false
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('aborted', () => {
        isAborted = true
      })
      stream.write('{"metadata":')
      await once(stream, 'end')
      assert.equal((JSON.parse(text) as { code: number }).code, 401)
      assert.equal(isAborted, false, 'the end of the stream must not overtake the end of the answer')
      stream.end('{}}')
      await once(stream, 'close')
      assert.equal(stream.rstCode, 0)
    }
  })

  test('are not waited for', async () => {
    const stream = client.open('POST', '/api/v1/namespaces/default/configmaps', false)
    const begun = performance.now()
    stream.on('error', () => undefined).resume()
    const more = (): void => {
      if (!stream.destroyed) stream.write(Buffer.alloc(64 << 10), more)
    }
    more()
    await once(stream, 'close')
    assert.ok(performance.now() - begun < 20_000)
  })
})
