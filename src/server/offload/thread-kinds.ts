// Which kinds the thread for heavy requests knows as the event loop does.

import type { Catalog, Resource } from '../../api/catalog.js'

/** Whether it is what is served under its name. */
export const isFound = (catalog: Catalog, resource: Resource): boolean =>
  catalog.find(resource.group, resource.version, resource.subject.resource) === resource

/** Tokens are signed and looked into with keys that another thread has only where they are kept in a folder. */
export const needsKeys = ({ definition, kind }: Resource): boolean => definition.review !== undefined || kind === 'ServiceAccount'
