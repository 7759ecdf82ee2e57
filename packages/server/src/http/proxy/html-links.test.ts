// Links of proxied HTML pages: which are rewritten, independent of chunk sizes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HtmlLinks } from './html-links.js'
import { rewriteLink } from './proxy-links.js'

const origin = { prefix: '/api/v1/namespaces/n/services/s/proxy', host: '10.0.0.1:80', requestHost: 'api.example' }

async function rewrite(page: string, chunkBytes = page.length || 1): Promise<string> {
  const links = new HtmlLinks((link) => rewriteLink(link, origin))
  const bytes = Buffer.from(page, 'utf8')
  for (let at = 0; at < bytes.length; at += chunkBytes) links.write(bytes.subarray(at, at + chunkBytes))
  links.end()
  const out: Buffer[] = []
  for await (const chunk of links) out.push(chunk as Buffer)
  return Buffer.concat(out).toString('utf8')
}

const links: readonly (readonly [link: string, expected: string])[] = [
  ['/', `${origin.prefix}/`],
  ['/a/b?c=d#e', `${origin.prefix}/a/b?c=d#e`],
  ['/a//b/../c/', `${origin.prefix}/a/c/`],
  ['http://10.0.0.1:80/a', `${origin.prefix}/a`],
  ['https://api.example/a', `https://api.example${origin.prefix}/a`],
  ['http://elsewhere/a', 'http://elsewhere/a'],
  ['//elsewhere/a', '//elsewhere/a'],
  ['a/b', 'a/b'],
  ['', ''],
  ['?x', '?x'],
  ['#x', '#x'],
  ['mailto:a@b', 'mailto:a@b'],
  [`${origin.prefix}/known`, `${origin.prefix}/known`],
  ['/bad%zz', '/bad%zz'],
  ['/a\nb', '/a\nb'],
]

test('links to the backend are rewritten to lead through the proxy', () => {
  for (const [link, expected] of links) assert.equal(rewriteLink(link, origin), expected, link)
})

const p = origin.prefix
const pages: readonly (readonly [page: string, expected: string])[] = [
  ['<a href="/x">', `<a href="${p}/x">`],
  ["<A  HREF = '/x' id=1>y</A>", `<A  HREF = "${p}/x" id=1>y</A>`],
  ['<img src=/x alt="a > b" usemap=/m/>', `<img src="${p}/x" alt="a > b" usemap="${p}/m/">`],
  ['<form action="/a?b&amp;c">', `<form action="${p}/a?b&amp;c">`],
  ['<p href="/x">', '<p href="/x">'],
  ['<a title="/x" data-href="/y">', '<a title="/x" data-href="/y">'],
  ['<!-- <a href="/x"> --><a href="/y">', `<!-- <a href="/x"> --><a href="${p}/y">`],
  ['<!--><a href="/y">', `<!--><a href="${p}/y">`],
  ['<!DOCTYPE html><?php ?></a ><a href="/y">', `<!DOCTYPE html><?php ?></a ><a href="${p}/y">`],
  [
    '<script src="/s">if (a<b) x=\'<a href="/z">\'</SCRIPT ><a href="/y">',
    `<script src="${p}/s">if (a<b) x='<a href="/z">'</SCRIPT ><a href="${p}/y">`,
  ],
  ['a < b << <a href="/y"> <', `a < b << <a href="${p}/y"> <`],
  ['<a href="/never ends', '<a href="/never ends'],
  ['grüße <a href="/grüße">', `grüße <a href="${p}/grüße">`],
  ['<a href>x</a><a href=>y</a>', '<a href>x</a><a href=>y</a>'],
  ['<input disabled src="/x"/>', `<input disabled src="${p}/x"/>`],
]

test('only links of a page change, for any chunk size', async () => {
  for (const [page, expected] of pages) {
    for (const size of [page.length, 1, 2, 7]) assert.equal(await rewrite(page, size), expected, `${page} in chunks of ${size}`)
  }
})

test('an endless tag is passed through in linear time', async () => {
  const page = `<a href="${'x'.repeat(300_000)}`
  const startMs = performance.now()
  assert.equal(await rewrite(page, 1), page)
  assert.ok(performance.now() - startMs < 40_000)
})
