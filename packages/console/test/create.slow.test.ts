// The console creates objects: a custom resource with the form of its schema, and a built-in object from an example.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../../test/kit/fixtures.js'
import { type Console, chromiumFound, editorText, openPage, pasteText, screenshot, signIn, startConsole } from './browser.js'

const schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['size', 'color'],
      properties: {
        size: { type: 'integer', minimum: 1, description: 'How large the gadget is.' },
        color: { type: 'string', enum: ['red', 'green'] },
        note: { type: 'string', default: 'none' },
        isHeavy: { type: 'boolean' },
        parts: { type: 'array', items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
        tags: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
}

describe('console: create', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    started = await startConsole()
    await started.embedded.client.post('/api/v1/namespaces', { metadata: { name: 'shop' } })
    await started.embedded.client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', {
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    })
    await until(
      () => started.embedded.client.get('/apis/example.com/v1'),
      ({ status }) => status === 200,
    )
  })
  after(() => started.close())

  const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()
  const field = (page: Page, path: string) => page.locator('.object-form').getByLabel(path, { exact: true })

  test('a custom resource is created with the form of its schema, in step with the YAML', async () => {
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/create/example.com/v1/gadgets?namespace=shop')
    const yaml = page.getByRole('textbox', { name: 'New Gadget as YAML' })
    await field(page, 'metadata.name').fill('first')
    await field(page, 'spec.size').fill('7')
    await field(page, 'spec.color').selectOption('green')
    await page.getByText('How large the gadget is.').waitFor()
    await page.getByLabel('Add a field to spec', { exact: true }).selectOption('isHeavy')
    await field(page, 'spec.isHeavy').selectOption('true')
    await page.getByLabel('Add a field to spec', { exact: true }).selectOption('parts')
    await field(page, 'spec.parts.0.name').fill('wheel')
    await press(page, 'Add an item to spec.parts')
    await field(page, 'spec.parts.1.name').fill('bell')
    await page.getByLabel('Add a field to spec', { exact: true }).selectOption('tags')
    await press(page, 'Add an entry to spec.tags')
    await field(page, 'spec.tags.key-1').fill('yes')
    await page.getByLabel('Key of spec.tags.key-1').fill('sold')
    await page.getByLabel('Key of spec.tags.key-1').blur()
    await until(
      () => editorText(yaml),
      (text) => text.includes('sold: "yes"') && text.includes('name: bell') && text.includes('isHeavy: true'),
    )
    await pasteText(yaml, (await editorText(yaml)).replace('size: 7', 'size: 8'))
    await until(
      () => field(page, 'spec.size').inputValue(),
      (value) => value === '8',
    )
    await screenshot(page, 'console-create')
    await press(page, 'Remove spec.parts.0')
    await press(page, 'Create')
    await page.getByText('Gadget first created').waitFor()
    const { json } = await started.embedded.client.get('/apis/example.com/v1/namespaces/shop/gadgets/first')
    assert.deepEqual(json['spec'], {
      size: 8,
      color: 'green',
      note: 'none',
      isHeavy: true,
      parts: [{ name: 'bell' }],
      tags: { sold: 'yes' },
    })
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('the server names the field that the form left empty', async () => {
    const { page } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/create/example.com/v1/gadgets?namespace=shop')
    await field(page, 'spec.size').fill('0')
    await press(page, 'Preview')
    await page.locator('.problem', { hasText: 'spec.size' }).waitFor()
    await page.context().close()
  })

  test('an object is created from an example', async () => {
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/create/core/v1/services?namespace=shop')
    await page.getByLabel('Example').selectOption('Headless')
    await field(page, 'metadata.name').fill('web')
    assert.equal(await field(page, 'spec.clusterIP').inputValue(), 'None')
    await field(page, 'spec.ports.0.port').fill('8080')
    await press(page, 'Create')
    await page.getByText('Service web created').waitFor()
    const { json } = await started.embedded.client.get('/api/v1/namespaces/shop/services/web')
    const { clusterIP, ports } = json['spec'] as { readonly clusterIP: string; readonly ports: readonly { readonly port: number }[] }
    assert.deepEqual([clusterIP, ports[0]?.port], ['None', 8080])
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})
