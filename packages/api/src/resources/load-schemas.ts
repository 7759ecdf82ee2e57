// Loads the schemas of one API version by path, for the codec command and tests.

/** `path`: folder and version, such as `rbac-authorization/v1`. */
export const loadSchemas = (path: string): Promise<{ readonly [name: string]: unknown }> => import(`./${path}.schema.js`)
