// Frames of clients are skimmed however they are cut up, and nothing of them is held but what is wanted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameSkimmer, frameHead } from './web-socket-frames.js'

const mask = Buffer.of(1, 2, 3, 4)

function clientFrame(first: number, payload: Buffer): Buffer {
  const head = frameHead(0, payload.length)
  head[0] = first
  head[1] = (head[1] as number) | 0x80
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ (mask[i & 3] as number))])
}

function skim(bytes: Buffer, chunkBytes = bytes.length): readonly string[] {
  const heard: string[] = []
  const skimmer = new FrameSkimmer({
    onPing: (payload) => heard.push(`ping ${payload}`),
    onClose: () => heard.push('close'),
    onBroken: (why) => heard.push(why),
  })
  for (let at = 0; at < bytes.length; at += chunkBytes) skimmer.push(bytes.subarray(at, at + chunkBytes))
  return heard
}

test('pings and the goodbye are heard between whatever else is said, however it is cut up', () => {
  const bytes = Buffer.concat([
    clientFrame(0x81, Buffer.from('hello')),
    clientFrame(0x89, Buffer.from('one')),
    clientFrame(0x02, Buffer.alloc(70_000, 0x89)),
    clientFrame(0x89, Buffer.from('x'.repeat(125))),
    clientFrame(0x80, Buffer.alloc(300, 0x88)),
    clientFrame(0x8a, Buffer.from('pong')),
    clientFrame(0x89, Buffer.alloc(0)),
    clientFrame(0x88, Buffer.of(3, 232)),
    clientFrame(0x89, Buffer.from('too late')),
  ])
  for (const size of [1, 2, 3, 7, 1000, bytes.length])
    assert.deepEqual(skim(bytes, size), ['ping one', `ping ${'x'.repeat(125)}`, 'ping ', 'close'])
})

const broken: readonly { readonly what: string; readonly bytes: Buffer; readonly why: string }[] = [
  { what: 'without a mask', bytes: Buffer.concat([frameHead(1, 1), Buffer.from('a')]), why: 'protocolError' },
  { what: 'with bits that mean nothing', bytes: clientFrame(0xc1, Buffer.from('a')), why: 'protocolError' },
  { what: 'of a kind that there is not', bytes: clientFrame(0x83, Buffer.from('a')), why: 'protocolError' },
  { what: 'for control in parts', bytes: clientFrame(0x09, Buffer.from('a')), why: 'protocolError' },
  { what: 'for control that is long', bytes: clientFrame(0x89, Buffer.alloc(126)), why: 'protocolError' },
  { what: 'longer than anybody sends', bytes: Buffer.concat([Buffer.of(0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0), mask]), why: 'tooLong' },
]
for (const { what, bytes, why } of broken)
  test(`a frame ${what} is the last`, () => {
    assert.deepEqual(skim(Buffer.concat([bytes, clientFrame(0x89, Buffer.from('more'))])), [why])
    assert.deepEqual(skim(bytes, 1), [why])
  })
