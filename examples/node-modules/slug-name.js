// Packages are looked for in the plugin's own node_modules, which travels with the plugin:
// run "npm install" before you hand it on. This one is tiny and was written for the example.
import { slug } from 'tiny-slug';

export default ({ title, extension = '.md' }) => {
  const name = slug(title);
  if (name === '') throw new Error(`there is no letter or digit in ${JSON.stringify(title)} that a file name could have`);
  return name + extension;
};
