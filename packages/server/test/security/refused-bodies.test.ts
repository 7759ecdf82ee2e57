// HTTP/2 requests rejected before their body is read: the client gets the whole response, then the stream ends.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { Http2Client } from '../../../../test/kit/network/http2-client.js'

describe('unread request bodies', () => {
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

  test('do not truncate the response', async () => {
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
      assert.equal(isAborted, false, 'the end of the stream must not overtake the end of the response')
      stream.end('{}}')
      await once(stream, 'close')
      assert.equal(stream.rstCode, 0)
    }
  })

  test('do not delay the response', async () => {
    const stream = client.open('POST', '/api/v1/namespaces/default/configmaps', false)
    stream.on('error', () => undefined).resume()
    const more = (): void => {
      if (!stream.destroyed) stream.write(Buffer.alloc(64 << 10), more)
    }
    more()
    await once(stream, 'close')
  })
})
